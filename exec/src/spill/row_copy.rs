//! Converts the current row of an operator's input to bytes and back: the current row of each source, then the slots.

use crate::run::Run;
use crate::source::SourceState;
use sql::plan::Node;

/// The sources that expressions over an operator's rows may read; none if the rows are slots.
pub(crate) fn row_sources(input: &Node) -> Vec<usize> {
    match input {
        Node::Filter { input, .. } | Node::Limit { input, .. } | Node::Sort { input, .. } | Node::Distinct { input, .. } => {
            row_sources(input)
        }
        Node::Concat { inputs } => inputs.iter().flat_map(row_sources).collect(),
        Node::Scan(_) | Node::AsOf { .. } | Node::NestedLoop { .. } | Node::HashJoin { .. } => sources_of(input),
        _ => Vec::new(),
    }
}

/// The sources whose rows a subtree makes.
pub(crate) fn sources_of(node: &Node) -> Vec<usize> {
    fn collect(node: &Node, sources: &mut Vec<usize>) {
        match node {
            // The sources inside a derived table are not sources of its rows.
            Node::Scan(scan) => sources.push(scan.source),
            _ => node.inputs().into_iter().for_each(|input| collect(input, sources)),
        }
    }
    let mut sources = Vec::new();
    collect(node, &mut sources);
    sources
}

/// Appends the current row.
pub(crate) fn write(run: &Run<'_>, sources: &[usize], slots: &[u8], out: &mut Vec<u8>) {
    for source in sources {
        let (state, bytes) = run.sources[*source].as_copy();
        out.push(state as u8);
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(bytes);
        if run.keeps_keys {
            let key: &[u8] = if state == SourceState::Copied { run.sources[*source].row.key() } else { &[] };
            out.extend_from_slice(&(key.len() as u32).to_le_bytes());
            out.extend_from_slice(key);
        }
    }
    out.extend_from_slice(slots);
}

/// Restores a row as the current one. Returns the start of its slots.
pub(crate) fn restore(run: &mut Run<'_>, sources: &[usize], row: &[u8]) -> usize {
    let mut rest = row;
    for source in sources {
        let length = u32::from_le_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
        run.sources[*source].set_copy(SourceState::from_byte(rest[0]), &rest[5..5 + length]);
        rest = &rest[5 + length..];
        if run.keeps_keys {
            let length = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
            run.sources[*source].row.set_key(&rest[4..4 + length]);
            rest = &rest[4 + length..];
        }
    }
    row.len() - rest.len()
}
