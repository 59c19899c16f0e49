//! Properties of projections, and the `$project` stage.

use pipeline::project::Mode;

use crate::{
    projection::{parse_find, parse_stage},
    shell_text::document,
};

#[test]
fn pure_inclusions_name_their_paths() {
    for (projection, expected) in [
        ("{a: 1, 'b.c': 1}", Some("a b.c _id")),
        ("{a: 1, _id: 0}", Some("a")),
        ("{a: {b: 1, c: 1}}", Some("a.b a.c _id")),
        ("{_id: 1}", Some("_id")),
        ("{a: 0}", None),
        ("{a: 1, b: 'text'}", None),
        ("{a: {$slice: 1}, b: 1}", None),
        ("{a: {$elemMatch: {b: 1}}}", None),
        ("{'a.$': 1}", None),
        ("{}", None),
    ] {
        let parsed = parse_find(document(projection).to_buf().as_ref()).unwrap();
        let found = parsed.paths_needed().map(|paths| paths.join(" "));
        assert_eq!(found.as_deref(), expected, "{projection}");
    }
}

#[test]
fn stages_have_no_find_operators() {
    let empty = parse_stage(document("{}").to_buf().as_ref());
    assert_eq!(empty.map_err(|error| error.code).err(), Some(51272));
    let positional = parse_stage(document("{'a.$': 1}").to_buf().as_ref());
    assert_eq!(positional.map_err(|error| error.code).err(), Some(16410));
    let sliced = parse_stage(document("{a: {$slice: ['$a', 1]}}").to_buf().as_ref()).unwrap();
    assert!(sliced.mode() == Mode::Inclusion && sliced.node().has_computed());
    assert!(parse_find(document("{}").to_buf().as_ref()).unwrap().is_identity());
}
