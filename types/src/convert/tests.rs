//! Conversions, against what MySQL answers.

use super::*;

fn ty(kind: TypeKind) -> ColumnType {
    ColumnType::new(kind)
}

#[test]
fn placeholder() {
    assert!(Warnings::new().is_empty());
    let _ = ty(TypeKind::Int);
}
