//! XML as EXTRACTVALUE and UPDATEXML read it: not checked against a schema, entities as they are written.
//!
//! A document is a list of nodes in their order, each with its parent and the bytes that it is made of. As in MySQL there may be several elements at the top, texts
//! beside them, and an end tag closes the last element that is open, whatever it is called.
//!
//! X1: a node's parent stands before it.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The first node, which holds the others.
    Document,
    Element,
    Attribute,
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub kind: NodeKind,
    pub parent: usize,
    /// The name; of a text the text.
    pub name: Range<usize>,
    /// All that it is made of.
    pub whole: Range<usize>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlError {
    pub line: usize,
    pub position: usize,
    pub what: String,
}

/// Most nodes of a document.
const NODES_MAX: usize = 10_000_000;

/// A document and its nodes.
#[derive(Clone, Debug)]
pub struct Xml<'x> {
    pub text: &'x [u8],
    pub nodes: Vec<Node>,
}

impl<'x> Xml<'x> {
    /// # Errors
    /// It is no XML.
    pub fn parse(text: &'x [u8]) -> Result<Self, XmlError> {
        let document = Node { kind: NodeKind::Document, parent: 0, name: 0..0, whole: 0..text.len() };
        let mut reader = Reader { text, at: 0, nodes: vec![document], open: vec![0] };
        reader.read()?;
        Ok(Self { text, nodes: reader.nodes })
    }

    pub fn name(&self, node: usize) -> &'x [u8] {
        &self.text[self.nodes[node].name.clone()]
    }
}

struct Reader<'x> {
    text: &'x [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The open elements.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), XmlError> {
        while self.at < self.text.len() {
            let start = self.at;
            crate::work::pass(32);
            if self.text[self.at] != b'<' {
                self.at = self.find(b"<").unwrap_or(self.text.len());
                self.add(NodeKind::Text, start..self.at, start..self.at)?;
            } else if self.rest().starts_with(b"<!--") {
                self.at = self.behind(b"-->")?;
            } else if self.rest().starts_with(b"<![CDATA[") {
                let content = self.at + 9;
                self.at = self.behind(b"]]>")?;
                self.add(NodeKind::Text, content..self.at - 3, start..self.at)?;
            } else if self.rest().starts_with(b"<?") {
                self.at = self.behind(b"?>")?;
            } else if self.rest().starts_with(b"<!") {
                self.at = self.behind(b">")?;
            } else if self.rest().starts_with(b"</") {
                self.end_tag()?;
            } else {
                self.tag(start)?;
            }
        }
        if self.open.len() > 1 { Err(self.error("unexpected END-OF-INPUT")) } else { Ok(()) }
    }

    fn tag(&mut self, start: usize) -> Result<(), XmlError> {
        self.at += 1;
        let name = self.name("IDENT")?;
        let element = self.add(NodeKind::Element, name, start..start)?;
        self.open.push(element);
        loop {
            self.skip_space();
            match self.rest().first() {
                None => return Err(self.error("END-OF-INPUT unexpected ('>' wanted)")),
                Some(b'>') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'/') => {
                    self.at += 1;
                    if self.rest().first() != Some(&b'>') {
                        return Err(self.error("'/' unexpected ('>' wanted)"));
                    }
                    self.at += 1;
                    self.close();
                    return Ok(());
                }
                Some(_) => self.attribute(element)?,
            }
        }
    }

    fn attribute(&mut self, element: usize) -> Result<(), XmlError> {
        let start = self.at;
        let name = self.name("'>'")?;
        self.open.push(element);
        let attribute = self.add(NodeKind::Attribute, name, start..self.at)?;
        self.open.pop();
        let end = self.at;
        self.skip_space();
        if self.rest().first() != Some(&b'=') {
            self.at = end;
            return Ok(());
        }
        self.at += 1;
        self.skip_space();
        let value = match self.rest().first() {
            Some(quote @ (b'"' | b'\'')) => {
                let quote = *quote;
                self.at += 1;
                let content = self.at;
                let Some(close) = self.find(&[quote]) else { return Err(self.error_at(self.text.len(), "unterminated STRING")) };
                self.at = close + 1;
                content..close
            }
            _ => self.name("STRING")?,
        };
        self.nodes[attribute].whole.end = self.at;
        self.open.push(attribute);
        let text = self.add(NodeKind::Text, value.clone(), value);
        self.open.pop();
        text.map(drop)
    }

    fn end_tag(&mut self) -> Result<(), XmlError> {
        self.at += 2;
        let name = self.name("IDENT")?;
        self.skip_space();
        match self.rest().first() {
            Some(b'>') => self.at += 1,
            None => return Err(self.error("END-OF-INPUT unexpected ('>' wanted)")),
            Some(_) => return Err(self.error("IDENT unexpected ('>' wanted)")),
        }
        if self.open.len() == 1 {
            let what = format!("'</{}>' unexpected (END-OF-INPUT wanted)", String::from_utf8_lossy(&self.text[name]));
            return Err(self.error(&what));
        }
        self.close();
        Ok(())
    }

    fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            self.nodes[element].whole.end = self.at;
        }
    }

    fn add(&mut self, kind: NodeKind, name: Range<usize>, whole: Range<usize>) -> Result<usize, XmlError> {
        if self.nodes.len() >= NODES_MAX {
            return Err(self.error("too many nodes"));
        }
        let parent = self.open.last().copied().unwrap_or(0);
        self.nodes.push(Node { kind, parent, name, whole });
        Ok(self.nodes.len() - 1)
    }

    /// A name; `wanted` is said to be missing where none begins.
    fn name(&mut self, wanted: &str) -> Result<Range<usize>, XmlError> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'.') || *byte >= 0x80;
        self.at += self.rest().iter().take_while(|byte| is_part(byte)).count();
        if self.at > start {
            return Ok(start..self.at);
        }
        let found = self.rest().first().map_or("END-OF-INPUT".to_owned(), |byte| format!("'{}'", char::from(*byte)));
        Err(self.error(&format!("{found} unexpected ({wanted} wanted)")))
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn find(&self, what: &[u8]) -> Option<usize> {
        memchr::memmem::find(self.rest(), what).map(|offset| self.at + offset)
    }

    /// The place behind the next one of these.
    fn behind(&self, what: &[u8]) -> Result<usize, XmlError> {
        self.find(what).map(|at| at + what.len()).ok_or_else(|| self.error_at(self.text.len(), "unterminated COMMENT"))
    }

    fn error(&self, what: &str) -> XmlError {
        self.error_at(self.at, what)
    }

    fn error_at(&self, at: usize, what: &str) -> XmlError {
        let before = &self.text[..at];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        XmlError { line, position: at - begin + 1, what: what.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_become_nodes() {
        let xml = Xml::parse(b"<?xml version='1.0'?><a x=\"1\"><!-- no --><b>t</b><![CDATA[<]]></a>").expect("sound");
        let shown: Vec<(NodeKind, usize, &[u8])> =
            xml.nodes.iter().enumerate().skip(1).map(|(at, node)| (node.kind, node.parent, xml.name(at))).collect();
        let expected: Vec<(NodeKind, usize, &[u8])> = vec![
            (NodeKind::Element, 0, b"a"),
            (NodeKind::Attribute, 1, b"x"),
            (NodeKind::Text, 2, b"1"),
            (NodeKind::Element, 1, b"b"),
            (NodeKind::Text, 4, b"t"),
            (NodeKind::Text, 1, b"<"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(&xml.text[xml.nodes[4].whole.clone()], b"<b>t</b>");
    }

    #[test]
    fn errors_say_where() {
        let told = |text: &str| {
            Xml::parse(text.as_bytes()).err().map(|error| format!("{} {} {}", error.line, error.position, error.what))
        };
        assert_eq!(told("<a>ccc</a").as_deref(), Some("1 10 END-OF-INPUT unexpected ('>' wanted)"));
        assert_eq!(told("<a>\n<b>1</b>").as_deref(), Some("2 9 unexpected END-OF-INPUT"));
        assert_eq!(told("</a>").as_deref(), Some("1 5 '</a>' unexpected (END-OF-INPUT wanted)"));
        assert_eq!(told("text"), None);
        // No byte makes it panic.
        let sound = b"<?x?><!DOCTYPE y><a x=\"1\" y='2' z=q><!-- c --><b/>t<![CDATA[<]]></a>";
        for end in 0..sound.len() {
            let _ = Xml::parse(&sound[..end]);
            let _ = Xml::parse(&sound[end..]);
        }
    }
}
