//! Which part of an application sends a statement, by the comment that its framework adds.
//!
//! Two forms are read: SQLCommenter's `/*controller='index',route='%2Forders'*/` (its specification: keys and values are
//! URL-encoded, values stand in quotes) and the older one of Rails, `/*application:Shop,controller:orders*/`.
//! Tags that differ for each request (`traceparent`, `tracestate`) say nothing about a statement and are left out.

/// Parts of the application named for one finding.
pub const PARTS_MAX: usize = 5;
/// Characters of one tag.
const TAG_CHARS_MAX: usize = 100;
/// Tags of one statement.
const TAGS_MAX: usize = 12;
const OF_ONE_REQUEST: &[&str] = &["traceparent", "tracestate", "request_id", "line"];

/// The tags of a statement as one text, `controller=orders, route=/orders/:id`, if a comment has any.
pub fn of(text: &str) -> Option<String> {
    let last = comment_at(text, text.rfind("/*")?);
    let first = || comment_at(text, text.find("/*")?);
    last.and_then(read).or_else(|| first().and_then(read))
}

/// The inside of the comment that begins here. Hints and code for certain versions are no comments.
fn comment_at(text: &str, start: usize) -> Option<&str> {
    let inside = text.get(start + 2..)?;
    let inside = &inside[..inside.find("*/")?];
    (!inside.starts_with(['!', '+'])).then_some(inside)
}

fn read(comment: &str) -> Option<String> {
    let mut tags = Vec::new();
    for pair in comment.split(',').take(TAGS_MAX) {
        let pair = pair.trim();
        let (key, value) = match pair.split_once('=') {
            Some((key, value)) => (key, value.trim().strip_prefix('\'')?.strip_suffix('\'')?),
            None => pair.split_once(':')?,
        };
        let (key, value) = (decoded(key.trim()), decoded(value));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if key.is_empty() || !key.bytes().all(is_name) {
            return None;
        }
        if !OF_ONE_REQUEST.contains(&key.as_str()) {
            tags.push(format!("{key}={value}"));
        }
    }
    (!tags.is_empty()).then(|| tags.join(", "))
}

/// Replaces `%2F` and its like; control characters become spaces, and a long text is cut.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.filter(|_| *byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    let text = String::from_utf8_lossy(&bytes);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(TAG_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn tags_of_sqlcommenter_are_read() {
        let text = "SELECT 1 /*action='%2Fparam*d',controller='index,framework='spring',traceparent='00-5bd6-01'*/";
        assert_eq!(of(text), None, "a value without its end");
        let text = "SELECT 1 /*controller='index',framework='spring',route='%2Forders%2F%3Aid',traceparent='00-5bd6-01'*/";
        assert_eq!(of(text).unwrap(), "controller=index, framework=spring, route=/orders/:id");
        assert_eq!(of("/*route='a'*/ SELECT 1 /* plain words */").unwrap(), "route=a");
    }

    #[test]
    fn tags_of_rails_are_read() {
        assert_eq!(
            of("SELECT 1 /*application:Shop,controller:orders,action:index*/").unwrap(),
            "application=Shop, controller=orders, action=index"
        );
    }

    #[test]
    fn other_comments_have_no_tags() {
        for text in [
            "SELECT 1",
            "SELECT 1 /* a remark */",
            "SELECT /*+ MAX_EXECUTION_TIME(10) */ 1",
            "SELECT /*!80000 a='b' */ 1",
            "SELECT 1 /*a='b'",
            "/*",
            "/*='x'*/",
            "/**/",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn damaged_codes_stay_as_they_are() {
        assert_eq!(of("SELECT 1 /*a='%zz%2',b='%0a%ff'*/").unwrap(), "a=%zz%2, b= \u{fffd}");
    }
}
