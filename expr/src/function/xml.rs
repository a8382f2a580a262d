//! EXTRACTVALUE and UPDATEXML.

use super::row::{Null, Places, functions, named};
use super::rules::{LONG, Typed, Typing};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::{Expr, ExprKind};
use conditions::Condition;
use std::borrow::Cow;
use types::xml::{NodeKind, Xml, XmlError};
use types::xpath::{Found, XPath, XPathError};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

functions! {
    Xml;

    EXTRACTVALUE = named(&[("EXTRACTVALUE", 2, 2)]).typed(text_type).null(Null::Always).length(|_| LONG / 4).note("XPath as MySQL has it, without ID()")
        => |env, _, args| extract(env, args);
    UPDATEXML = named(&[("UPDATEXML", 3, 3)]).typed(text_type).null(Null::Always).texts(Places::ALL).length(|_| LONG / 4)
        => |env, _, args| update(env, args);
}

fn text_type(_: &dyn Typing, _: &[Expr], collation: CollationId) -> Typed {
    Ok(ColumnType { collation, ..ColumnType::new(TypeKind::Text(LobSize::Long)) })
}

#[cold]
fn told(error: XPathError) -> Error {
    let message = match error {
        XPathError::Syntax(rest) => format!("XPATH syntax error: '{rest}'"),
        XPathError::Variable(name) => format!("Unknown XPATH variable at: '{name}'"),
        XPathError::TwoSets(rest) => format!("XPATH error: comparison of two nodesets is not supported: '{rest}'"),
    };
    Error::from(Condition::UnknownError { message: message.into() })
}

/// The path, which has to be the same for all rows. `None` is NULL.
fn path<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<XPath>> {
    let varies = |part: &Expr| matches!(part.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_));
    if arg.any(&varies) {
        let message = "Only constant XPATH queries are supported".to_owned();
        return Err(Error::from(Condition::UnknownError { message: message.into() }).into());
    }
    let Some(text) = env.text(arg)? else { return Ok(None) };
    Ok(Some(XPath::parse(&text).map_err(told)?))
}

/// The document; `None`, with a warning: it is no XML.
fn document<'t>(env: &Env<'_>, text: &'t [u8]) -> Step<Option<Xml<'t>>> {
    match Xml::parse(text) {
        Ok(xml) => Ok(Some(xml)),
        Err(XmlError { line, position, what }) => {
            let value = format!("parse error at line {line} pos {position}: {what}");
            env.session().warn(Error::from(Condition::WrongValue { kind: "XML".into(), value: value.into() }));
            Ok(None)
        }
    }
}

fn extract<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let path = path(env, &args[1])?;
    let (Some(text), Some(path)) = (env.text(&args[0])?, path) else { return Ok(Value::Null) };
    let Some(xml) = document(env, &text)? else { return Ok(Value::Null) };
    let found = path.find(&xml).text(&xml);
    types::work::finish()?;
    Ok(Value::Bytes(Cow::Owned(found)))
}

/// Replaces the node, if the path finds exactly one.
fn update<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let path = path(env, &args[1])?;
    let (text, new) = (env.text(&args[0])?, env.text(&args[2])?);
    let (Some(text), Some(path), Some(new)) = (text, path, new) else { return Ok(Value::Null) };
    let Some(xml) = document(env, &text)? else { return Ok(Value::Null) };
    let found = path.find(&xml);
    types::work::finish()?;
    match found {
        Found::Nodes(nodes) => match nodes[..] {
            [node] if xml.nodes[node].kind == NodeKind::Document => Ok(Value::Bytes(Cow::Owned(new.into_owned()))),
            [node] => {
                // As in MySQL, in place of a text its element.
                let is_text = xml.nodes[node].kind == NodeKind::Text && xml.nodes[node].parent > 0;
                let node = if is_text { xml.nodes[node].parent } else { node };
                let place = xml.nodes[node].whole.clone();
                let changed = [&text[..place.start], &new, &text[place.end..]].concat();
                Ok(Value::Bytes(Cow::Owned(changed)))
            }
            _ => Ok(Value::Bytes(Cow::Owned(text.into_owned()))),
        },
        _ => Ok(Value::Null),
    }
}
