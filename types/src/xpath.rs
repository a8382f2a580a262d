//! XPath, as far as EXTRACTVALUE and UPDATEXML have it in MySQL: paths with axes and predicates, operators, some functions.
//!
//! P1: an expression is nested at most `DEPTH_MAX` deep, so its reading and its evaluation may recurse.
//! P2: sets of nodes are in the order of the document, without duplicates.

use crate::work;
use crate::xml::{NodeKind, Xml};
use std::ops::Range;

const DEPTH_MAX: usize = 64;

/// Why a text is no XPath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XPathError {
    /// The rest of the text, from what cannot stand there.
    Syntax(String),
    /// `$name`: there are no variables.
    Variable(String),
    /// Two sets of nodes are compared.
    TwoSets(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

const AXES: [(&[u8], Axis); 12] = [
    (b"ancestor", Axis::Ancestor),
    (b"ancestor-or-self", Axis::AncestorOrSelf),
    (b"attribute", Axis::Attribute),
    (b"child", Axis::Child),
    (b"descendant", Axis::Descendant),
    (b"descendant-or-self", Axis::DescendantOrSelf),
    (b"following", Axis::Following),
    (b"following-sibling", Axis::FollowingSibling),
    (b"parent", Axis::Parent),
    (b"preceding", Axis::Preceding),
    (b"preceding-sibling", Axis::PrecedingSibling),
    (b"self", Axis::Itself),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// Name, fewest and most arguments.
const FUNCTIONS: [(&[u8], Function, usize, usize); 16] = [
    (b"boolean", Function::Boolean, 1, 1),
    (b"ceiling", Function::Ceiling, 1, 1),
    (b"concat", Function::Concat, 2, 255),
    (b"contains", Function::Contains, 2, 2),
    (b"count", Function::Count, 1, 1),
    (b"false", Function::False, 0, 0),
    (b"floor", Function::Floor, 1, 1),
    (b"last", Function::Last, 0, 0),
    (b"not", Function::Not, 1, 1),
    (b"number", Function::Number, 0, 1),
    (b"position", Function::Position, 0, 0),
    (b"round", Function::Round, 1, 1),
    (b"string-length", Function::StringLength, 0, 1),
    (b"substring", Function::Substring, 2, 3),
    (b"sum", Function::Sum, 1, 1),
    (b"true", Function::True, 0, 0),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Union,
}

#[derive(Clone, Debug)]
enum Test {
    Name(Vec<u8>),
    /// `*`
    Any,
    /// `node()`
    Node,
    /// `text()`
    Text,
}

#[derive(Clone, Debug)]
struct Step {
    axis: Axis,
    test: Test,
    predicates: Vec<Expr>,
}

#[derive(Clone, Debug)]
enum Expr {
    Number(f64),
    Text(Vec<u8>),
    Path { absolute: bool, steps: Vec<Step> },
    Binary(Op, Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    Call(Function, Vec<Expr>),
}

/// A read XPath.
#[derive(Clone, Debug)]
pub struct XPath(Expr);

/// What an XPath finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Nodes(Vec<usize>),
    Number(f64),
    Text(Vec<u8>),
    Truth(bool),
}

impl XPath {
    /// # Errors
    /// It is none, or uses what MySQL does not have either.
    pub fn parse(text: &[u8]) -> Result<Self, XPathError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        parser.skip_space();
        let expr = parser.binary(0)?;
        if parser.at < text.len() { Err(parser.error()) } else { Ok(Self(expr)) }
    }

    pub fn find(&self, xml: &Xml<'_>) -> Found {
        let evaluator = Evaluator::new(xml);
        evaluator.value(&self.0, Context { node: 0, position: 1, size: 1 })
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
}

/// Operators by how tightly they bind; a longer sign stands before its beginning.
const LEVELS: [&[(&[u8], Op)]; 7] = [
    &[(b"or", Op::Or)],
    &[(b"and", Op::And)],
    &[(b"!=", Op::NotEqual), (b"=", Op::Equal)],
    &[(b"<=", Op::LessOrEqual), (b">=", Op::GreaterOrEqual), (b"<", Op::Less), (b">", Op::Greater)],
    &[(b"+", Op::Add), (b"-", Op::Subtract)],
    &[(b"*", Op::Multiply), (b"div", Op::Divide), (b"mod", Op::Modulo)],
    &[(b"|", Op::Union)],
];
/// `-x` stands between these levels.
const UNARY_LEVEL: usize = 6;

impl Parser<'_> {
    fn binary(&mut self, level: usize) -> Result<Expr, XPathError> {
        if level == LEVELS.len() {
            return self.primary();
        }
        if level == UNARY_LEVEL && self.sign(b"-") {
            return self.nested(|parser| Ok(Expr::Negate(Box::new(parser.binary(UNARY_LEVEL)?))));
        }
        let mut left = self.binary(level + 1)?;
        let mut count = 0;
        while let Some(op) = self.operator(LEVELS[level]) {
            let start = self.at;
            let right = self.binary(level + 1)?;
            let is_comparison =
                matches!(op, Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual);
            if is_comparison && is_set(&left) && is_set(&right) {
                return Err(XPathError::TwoSets(self.rest_from(start)));
            }
            // The tree grows to the left.
            count += 1;
            if count > DEPTH_MAX || op == Op::Union && !(is_set(&left) && is_set(&right)) {
                return Err(self.error());
            }
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, XPathError>) -> Result<T, XPathError> {
        if self.depth >= DEPTH_MAX {
            return Err(self.error());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> Result<Expr, XPathError> {
        match self.rest().first() {
            Some(b'(') => {
                self.sign(b"(");
                let inner = self.nested(|parser| parser.binary(0))?;
                self.expect(b")")?;
                Ok(inner)
            }
            Some(quote @ (b'"' | b'\'')) => {
                let quote = *quote;
                let Some(length) = self.rest()[1..].iter().position(|byte| *byte == quote) else { return Err(self.error()) };
                let text = self.rest()[1..=length].to_vec();
                self.at += length + 2;
                self.skip_space();
                Ok(Expr::Text(text))
            }
            Some(b'0'..=b'9') => {
                let length = self.rest().iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
                let number = std::str::from_utf8(&self.rest()[..length]).ok().and_then(|text| text.parse().ok());
                let Some(number) = number else { return Err(self.error()) };
                self.at += length;
                self.skip_space();
                Ok(Expr::Number(number))
            }
            Some(b'$') => Err(XPathError::Variable(self.rest_from(self.at))),
            _ => match self.call()? {
                Some(call) => Ok(call),
                None => self.path(),
            },
        }
    }

    /// A call of a function, which is not `text()` or `node()`.
    fn call(&mut self) -> Result<Option<Expr>, XPathError> {
        let name = self.name_length();
        let word = &self.rest()[..name];
        let behind = self.rest()[name..].trim_ascii_start();
        if name == 0 || behind.first() != Some(&b'(') || matches!(word, b"text" | b"node") {
            return Ok(None);
        }
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == word);
        self.at += name;
        self.skip_space();
        let Some(&(_, function, fewest, most)) = found else { return Err(self.error()) };
        self.expect(b"(")?;
        let mut args = Vec::new();
        if self.rest().first() != Some(&b')') {
            loop {
                args.push(self.nested(|parser| parser.binary(0))?);
                if !self.sign(b",") {
                    break;
                }
            }
        }
        let needs_set = matches!(function, Function::Count | Function::Sum);
        if !(fewest..=most).contains(&args.len()) || needs_set && !args.iter().all(is_set) {
            return Err(self.error());
        }
        self.expect(b")")?;
        Ok(Some(Expr::Call(function, args)))
    }

    fn path(&mut self) -> Result<Expr, XPathError> {
        let mut steps = Vec::new();
        let absolute = self.rest().first() == Some(&b'/');
        let anywhere = || Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() };
        if self.sign(b"//") {
            steps.push(anywhere());
        } else if self.sign(b"/") && (self.rest().is_empty() || matches!(self.rest()[0], b')' | b']' | b'|')) {
            // The document itself.
            return Ok(Expr::Path { absolute, steps });
        }
        loop {
            steps.push(self.step()?);
            if self.sign(b"//") {
                steps.push(anywhere());
            } else if !self.sign(b"/") {
                return Ok(Expr::Path { absolute, steps });
            }
            if steps.len() > 10 * DEPTH_MAX {
                return Err(self.error());
            }
        }
    }

    fn step(&mut self) -> Result<Step, XPathError> {
        let plain = |axis| Ok(Step { axis, test: Test::Node, predicates: Vec::new() });
        if self.sign(b"..") {
            return plain(Axis::Parent);
        }
        if self.sign(b".") {
            return plain(Axis::Itself);
        }
        let mut axis = if self.sign(b"@") { Axis::Attribute } else { Axis::Child };
        let word = &self.rest()[..self.axis_length()];
        if let Some((name, named)) = AXES.iter().find(|(name, _)| *name == word)
            && self.rest()[name.len()..].trim_ascii_start().starts_with(b"::")
        {
            axis = *named;
            self.at += name.len();
            self.skip_space();
            self.at += 2;
            self.skip_space();
        }
        let test = if self.sign(b"*") {
            Test::Any
        } else {
            let length = self.name_length();
            if length == 0 {
                return Err(self.error());
            }
            let name = self.rest()[..length].to_vec();
            self.at += length;
            self.skip_space();
            match &name[..] {
                b"text" | b"node" if self.sign(b"(") => {
                    self.expect(b")")?;
                    if name == b"text" { Test::Text } else { Test::Node }
                }
                _ => Test::Name(name),
            }
        };
        let mut predicates = Vec::new();
        while self.sign(b"[") {
            predicates.push(self.nested(|parser| parser.binary(0))?);
            self.expect(b"]")?;
        }
        Ok(Step { axis, test, predicates })
    }

    fn operator(&mut self, signs: &[(&[u8], Op)]) -> Option<Op> {
        let found = signs.iter().find(|(sign, _)| {
            // A word ends where the sign does.
            let is_word = sign[0].is_ascii_alphabetic();
            self.rest().starts_with(sign) && !(is_word && self.name_length() > sign.len())
        });
        let (sign, op) = found?;
        self.at += sign.len();
        self.skip_space();
        Some(*op)
    }

    fn sign(&mut self, sign: &[u8]) -> bool {
        let is_there = self.rest().starts_with(sign);
        if is_there {
            self.at += sign.len();
            self.skip_space();
        }
        is_there
    }

    fn expect(&mut self, sign: &[u8]) -> Result<(), XPathError> {
        if self.sign(sign) { Ok(()) } else { Err(self.error()) }
    }

    /// Letters, digits, `_`, `-`, `.`, and a colon within.
    fn name_length(&self) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':') || *byte >= 0x80;
        let begins = self.rest().first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 0x80);
        if begins { self.rest().iter().take_while(|byte| is_part(byte)).count() } else { 0 }
    }

    fn axis_length(&self) -> usize {
        self.rest().iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn rest_from(&self, at: usize) -> String {
        String::from_utf8_lossy(&self.text[at..]).chars().take(32).collect()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn error(&self) -> XPathError {
        XPathError::Syntax(self.rest_from(self.at))
    }
}

/// Is its value a set of nodes?
fn is_set(expr: &Expr) -> bool {
    matches!(expr, Expr::Path { .. } | Expr::Binary(Op::Union, ..))
}

#[derive(Clone, Copy)]
struct Context {
    node: usize,
    position: usize,
    size: usize,
}

struct Evaluator<'x> {
    xml: &'x Xml<'x>,
    /// The children of node `n` are `children[starts[n]..starts[n + 1]]`.
    children: Vec<usize>,
    starts: Vec<usize>,
}

impl<'x> Evaluator<'x> {
    fn new(xml: &'x Xml<'x>) -> Self {
        let count = xml.nodes.len();
        let mut starts = vec![0; count + 1];
        xml.nodes.iter().skip(1).for_each(|node| starts[node.parent + 1] += 1);
        (0..count).for_each(|node| starts[node + 1] += starts[node]);
        let (mut next, mut children) = (starts.clone(), vec![0; count.saturating_sub(1)]);
        for (at, node) in xml.nodes.iter().enumerate().skip(1) {
            children[next[node.parent]] = at;
            next[node.parent] += 1;
        }
        Self { xml, children, starts }
    }

    fn children(&self, node: usize) -> &[usize] {
        &self.children[Range { start: self.starts[node], end: self.starts[node + 1] }]
    }

    fn kind(&self, node: usize) -> NodeKind {
        self.xml.nodes[node].kind
    }

    fn value(&self, expr: &Expr, context: Context) -> Found {
        match expr {
            Expr::Number(number) => Found::Number(*number),
            Expr::Text(text) => Found::Text(text.clone()),
            Expr::Path { absolute, steps } => {
                let first = vec![if *absolute { 0 } else { context.node }];
                Found::Nodes(steps.iter().fold(first, |nodes, step| self.step(step, &nodes)))
            }
            Expr::Negate(inner) => Found::Number(-self.number(&self.value(inner, context))),
            Expr::Call(function, args) => self.call(*function, args, context),
            Expr::Binary(op, left, right) => {
                let left = self.value(left, context);
                match op {
                    Op::Or => return Found::Truth(self.truth(&left) || self.truth(&self.value(right, context))),
                    Op::And => return Found::Truth(self.truth(&left) && self.truth(&self.value(right, context))),
                    _ => {}
                }
                let right = self.value(right, context);
                let (a, b) = (|| self.number(&left), || self.number(&right));
                match op {
                    Op::Add => Found::Number(a() + b()),
                    Op::Subtract => Found::Number(a() - b()),
                    Op::Multiply => Found::Number(a() * b()),
                    // As in MySQL, of whole numbers.
                    Op::Divide => Found::Number(if b() == 0.0 { 0.0 } else { (a() / b()).trunc() }),
                    Op::Modulo => Found::Number(if b() == 0.0 { 0.0 } else { a() % b() }),
                    Op::Union => match (left, right) {
                        (Found::Nodes(mut nodes), Found::Nodes(others)) => {
                            nodes.extend(others);
                            Found::Nodes(in_order(nodes))
                        }
                        (other, _) => other,
                    },
                    _ => Found::Truth(self.compares(*op, &left, &right)),
                }
            }
        }
    }

    fn step(&self, step: &Step, nodes: &[usize]) -> Vec<usize> {
        let mut out = Vec::new();
        for &node in nodes {
            let mut found: Vec<usize> = self.axis(step.axis, node).into_iter().filter(|at| self.passes(step, *at)).collect();
            for predicate in &step.predicates {
                let size = found.len();
                let holds = |(place, node): (usize, usize)| {
                    let context = Context { node, position: place + 1, size };
                    match self.value(predicate, context) {
                        Found::Number(number) => (number == (place + 1) as f64).then_some(node),
                        other => self.truth(&other).then_some(node),
                    }
                };
                found = found.into_iter().enumerate().filter_map(holds).collect();
            }
            work::pass(32);
            out.extend(found);
        }
        in_order(out)
    }

    fn passes(&self, step: &Step, node: usize) -> bool {
        let is_principal = match step.axis {
            Axis::Attribute => self.kind(node) == NodeKind::Attribute,
            _ => self.kind(node) == NodeKind::Element,
        };
        match &step.test {
            Test::Name(name) => is_principal && self.xml.name(node) == &name[..],
            Test::Any => is_principal,
            Test::Node => true,
            Test::Text => self.kind(node) == NodeKind::Text,
        }
    }

    /// The nodes on an axis, the nearest first where it leads back.
    fn axis(&self, axis: Axis, node: usize) -> Vec<usize> {
        let is_content = |at: &usize| self.kind(*at) != NodeKind::Attribute;
        let parent = |at: usize| (at > 0).then(|| self.xml.nodes[at].parent);
        let ancestors = || std::iter::successors(parent(node), |at| parent(*at));
        let siblings = || parent(node).map_or(&[][..], |parent| self.children(parent)).iter().copied().filter(is_content);
        match axis {
            Axis::Itself => vec![node],
            Axis::Parent => parent(node).into_iter().collect(),
            Axis::Ancestor => ancestors().collect(),
            Axis::AncestorOrSelf => std::iter::once(node).chain(ancestors()).collect(),
            Axis::Child => self.children(node).iter().copied().filter(is_content).collect(),
            Axis::Attribute => self.children(node).iter().copied().filter(|at| !is_content(at)).collect(),
            Axis::Descendant => self.descendants(node),
            Axis::DescendantOrSelf => std::iter::once(node).chain(self.descendants(node)).collect(),
            Axis::FollowingSibling => siblings().filter(|at| *at > node).collect(),
            Axis::PrecedingSibling => {
                let mut before: Vec<usize> = siblings().filter(|at| *at < node).collect();
                before.reverse();
                before
            }
            Axis::Following => {
                let last = self.descendants(node).last().copied().unwrap_or(node);
                (last + 1..self.xml.nodes.len()).filter(|at| self.is_in_content(*at)).collect()
            }
            Axis::Preceding => {
                let above: Vec<usize> = ancestors().collect();
                (1..node).rev().filter(|at| self.is_in_content(*at) && !above.contains(at)).collect()
            }
        }
    }

    /// X1: they follow each other. Without attributes and their texts.
    fn descendants(&self, node: usize) -> Vec<usize> {
        let (mut out, mut open) = (Vec::new(), vec![node]);
        while let Some(at) = open.pop() {
            if at != node {
                out.push(at);
            }
            work::pass(16);
            open.extend(self.children(at).iter().rev().filter(|child| self.kind(**child) != NodeKind::Attribute));
        }
        out
    }

    fn is_in_content(&self, node: usize) -> bool {
        self.kind(node) != NodeKind::Attribute && self.kind(self.xml.nodes[node].parent) != NodeKind::Attribute
    }

    fn call(&self, function: Function, args: &[Expr], context: Context) -> Found {
        let arg = |n: usize| args.get(n).map_or_else(|| Found::Nodes(vec![context.node]), |arg| self.value(arg, context));
        let text = |n: usize| self.text(&arg(n));
        let number = |n: usize| self.number(&arg(n));
        match function {
            Function::Last => Found::Number(context.size as f64),
            Function::Position => Found::Number(context.position as f64),
            Function::True => Found::Truth(true),
            Function::False => Found::Truth(false),
            Function::Not => Found::Truth(!self.truth(&arg(0))),
            Function::Boolean => Found::Truth(self.truth(&arg(0))),
            Function::Number => Found::Number(number(0)),
            Function::Floor => Found::Number(number(0).floor()),
            Function::Ceiling => Found::Number(number(0).ceil()),
            Function::Round => Found::Number(number(0).round_ties_even()),
            Function::Count => Found::Number(if let Found::Nodes(nodes) = arg(0) { nodes.len() as f64 } else { 0.0 }),
            Function::Sum => match arg(0) {
                Found::Nodes(nodes) => Found::Number(nodes.into_iter().map(|node| self.number(&Found::Nodes(vec![node]))).sum()),
                other => Found::Number(self.number(&other)),
            },
            Function::Concat => Found::Text((0..args.len()).flat_map(text).collect()),
            Function::Contains => Found::Truth(memchr::memmem::find(&text(0), &text(1)).is_some()),
            Function::StringLength => Found::Number(String::from_utf8_lossy(&text(0)).chars().count() as f64),
            Function::Substring => {
                let whole = text(0);
                let whole = String::from_utf8_lossy(&whole);
                let skipped = (number(1).max(1.0) - 1.0) as usize;
                let taken = if args.len() > 2 { number(2).max(0.0) as usize } else { usize::MAX };
                Found::Text(whole.chars().skip(skipped).take(taken).collect::<String>().into_bytes())
            }
        }
    }

    /// A set of nodes compares as each of its texts does: one is enough.
    fn compares(&self, op: Op, left: &Found, right: &Found) -> bool {
        let holds = |order: Option<std::cmp::Ordering>| match (op, order) {
            (Op::NotEqual, order) => order.is_none_or(|order| order.is_ne()),
            (_, None) => false,
            (Op::Equal, Some(order)) => order.is_eq(),
            (Op::Less, Some(order)) => order.is_lt(),
            (Op::LessOrEqual, Some(order)) => order.is_le(),
            (Op::Greater, Some(order)) => order.is_gt(),
            (_, Some(order)) => order.is_ge(),
        };
        let order = |a: &Found, b: &Found| match (a, b) {
            (Found::Text(a), Found::Text(b)) => Some(a.cmp(b)),
            (a, b) => self.number(a).partial_cmp(&self.number(b)),
        };
        let texts = |nodes: &[usize]| -> Vec<Found> {
            self.texts(nodes).into_iter().map(|text| Found::Text(self.xml.name(text).to_vec())).collect()
        };
        match (left, right) {
            (Found::Nodes(nodes), other) => texts(nodes).iter().any(|text| holds(order(text, other))),
            (other, Found::Nodes(nodes)) => texts(nodes).iter().any(|text| holds(order(other, text))),
            (a, b) => holds(order(a, b)),
        }
    }

    fn truth(&self, value: &Found) -> bool {
        match value {
            Found::Truth(truth) => *truth,
            Found::Number(number) => *number != 0.0,
            Found::Text(text) => !text.is_empty(),
            Found::Nodes(nodes) => !nodes.is_empty(),
        }
    }

    fn number(&self, value: &Found) -> f64 {
        match value {
            Found::Truth(truth) => f64::from(u8::from(*truth)),
            Found::Number(number) => *number,
            other => leading_number(&self.text(other)),
        }
    }

    fn text(&self, value: &Found) -> Vec<u8> {
        match value {
            Found::Text(text) => text.clone(),
            Found::Truth(truth) => vec![b'0' + u8::from(*truth)],
            Found::Number(number) => number.to_string().into_bytes(),
            Found::Nodes(nodes) => {
                let texts = self.texts(nodes);
                texts.iter().map(|text| self.xml.name(*text)).collect::<Vec<_>>().join(&b' ')
            }
        }
    }

    /// The texts of nodes: those themselves, or directly within.
    fn texts(&self, nodes: &[usize]) -> Vec<usize> {
        let own = |node: &usize| if self.kind(*node) == NodeKind::Text { vec![*node] } else { self.children(*node).to_vec() };
        in_order(nodes.iter().flat_map(own).filter(|at| self.kind(*at) == NodeKind::Text).collect())
    }
}

impl Found {
    /// The result of EXTRACTVALUE.
    pub fn text(&self, xml: &Xml<'_>) -> Vec<u8> {
        Evaluator::new(xml).text(self)
    }
}

/// P2
fn in_order(mut nodes: Vec<usize>) -> Vec<usize> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The number that a text begins with, else 0.
fn leading_number(text: &[u8]) -> f64 {
    let text = text.trim_ascii();
    let is_part =
        |(place, byte): &(usize, &u8)| byte.is_ascii_digit() || **byte == b'.' || *place == 0 && matches!(byte, b'-' | b'+');
    let length = text.iter().enumerate().take_while(is_part).count();
    std::str::from_utf8(&text[..length]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_what_mysql_finds() {
        let one = "<a><b>1</b><b n=\"2\">2</b><c>q<d>3</d></c></a>";
        let cases = [
            ("/a/b", "1 2"),
            ("/a/b[2]", "2"),
            ("//b[@n=\"2\"]", "2"),
            ("//@n", "2"),
            ("count(/a/b)", "2"),
            ("/a/c", "q"),
            ("/a/c/d|/a/b[1]", "1 3"),
            ("//d/..", "q"),
            ("//d/ancestor::c/preceding-sibling::b[1]", "2"),
            ("/a/b[last()]", "2"),
            ("/a/b[position()=1]", "1"),
            ("/a/b[.>1]", "2"),
            ("1+2*3", "7"),
            ("5 div 2", "2"),
            ("-(1)", "-1"),
            ("sum(/a/b)", "3"),
            ("concat('x', /a/b[1])", "x1"),
            ("substring('abcdef', 2, 3)", "bcd"),
            ("count(//b) > 1 and not(/x)", "1"),
            ("/a/following::b", ""),
            ("//text()", "1 2 q 3"),
            ("//*[contains(., '3')]", "3"),
        ];
        let xml = Xml::parse(one.as_bytes()).expect("sound");
        for (path, expected) in cases {
            let found = XPath::parse(path.as_bytes()).unwrap_or_else(|error| panic!("{path}: {error:?}")).find(&xml);
            assert_eq!(String::from_utf8(found.text(&xml)).expect("a text"), expected, "{path}");
        }
        let wrong = [("/a/", ""), ("/a[", ""), ("foo(1)", "(1)"), ("", ""), ("/a]", "]"), ("count(1)", ")")];
        for (path, rest) in wrong {
            assert_eq!(XPath::parse(path.as_bytes()).err(), Some(XPathError::Syntax(rest.to_owned())), "{path}");
        }
        assert_eq!(XPath::parse(b"$v").err(), Some(XPathError::Variable("$v".to_owned())));
        assert!(matches!(XPath::parse(b"/a=/b").err(), Some(XPathError::TwoSets(_))));
        let deep = [vec![b'('; 1000], vec![b'1'], vec![b')'; 1000]].concat();
        assert!(XPath::parse(&deep).is_err());
    }

    proptest::proptest! {
        /// No text makes it panic.
        #[test]
        fn made_texts_are_read_or_refused(
            xml in "(<a>|<b x='1'>|</a>|</b>|<c/>|t|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<|>|&|é){0,20}",
            path in "(/|//|a|b|@x|\\*|\\.|\\.\\.|\\[|\\]|\\(|\\)|\\||=|!=|<|>=|\\+|-| and | or | div |1|2.5|'t'|count|last|position|substring|,|self::|preceding::|following::|node\\(\\)|text\\(\\)|é){0,20}",
        ) {
            if let (Ok(xml), Ok(path)) = (Xml::parse(xml.as_bytes()), XPath::parse(path.as_bytes())) {
                path.find(&xml).text(&xml);
            }
        }
    }
}
