//! The operators of filters, projections, sorts and updates, and how far each is supported. A test
//! compares the rows with the parsers in both directions.

use super::Support::{self, Differs, NotYet, Works};

/// The part of the language to which an operator belongs. A name may have meanings in several
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An operator of a filter.
    Filter,
    /// An operator of a find's projection.
    Projection,
    /// An operator of a sort.
    Sort,
    /// An operator of an update.
    Update,
    /// A modifier next to `$each` in an array operator of an update.
    UpdateModifier,
}

/// One operator and its level of support.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Part of the language to which the operator belongs.
    pub part: Part,
    /// Name of the operator, including the `$`.
    pub name: &'static str,
    /// How far the operator is supported.
    pub support: Support,
}

const fn row(part: Part, name: &'static str, support: Support) -> Row {
    Row { part, name, support }
}

/// How regular expressions differ from those of MongoDB.
const REGEX: &str = "matched in linear time, so look-behind, backreferences, recursion, conditions, verbs, atomic groups, \
                     possessive quantifiers and \\C, \\G, \\K, \\X are refused by name";
/// How sorts by paths through arrays differ from MongoDB.
const ARRAY_SORT: &str = "paths through two different arrays may sort by the first value of each \
                          where MongoDB refuses them";
/// How a timestamp of `$currentDate` differs from MongoDB's.
const TIMESTAMP: &str = "a timestamp's increment is the millisecond of its second, counted from 1";

/// Every operator of MongoDB 8 in these parts. A test parses the shortest use of each supported
/// operator, and checks that all others are refused with an error text that names them.
pub const TABLE: &[Row] = &[
    row(Part::Filter, "$eq", Works),
    row(Part::Filter, "$ne", Works),
    row(Part::Filter, "$gt", Works),
    row(Part::Filter, "$gte", Works),
    row(Part::Filter, "$lt", Works),
    row(Part::Filter, "$lte", Works),
    row(Part::Filter, "$in", Works),
    row(Part::Filter, "$nin", Works),
    row(Part::Filter, "$and", Works),
    row(Part::Filter, "$or", Works),
    row(Part::Filter, "$nor", Works),
    row(Part::Filter, "$not", Works),
    row(Part::Filter, "$exists", Works),
    row(Part::Filter, "$type", Works),
    row(Part::Filter, "$expr", Works),
    row(Part::Filter, "$mod", Works),
    row(Part::Filter, "$regex", Differs(REGEX)),
    row(Part::Filter, "$options", Works),
    row(Part::Filter, "$all", Works),
    row(Part::Filter, "$elemMatch", Works),
    row(Part::Filter, "$size", Works),
    row(Part::Filter, "$bitsAllSet", Works),
    row(Part::Filter, "$bitsAnySet", Works),
    row(Part::Filter, "$bitsAllClear", Works),
    row(Part::Filter, "$bitsAnyClear", Works),
    row(Part::Filter, "$comment", Works),
    row(Part::Filter, "$alwaysTrue", Works),
    row(Part::Filter, "$alwaysFalse", Works),
    row(Part::Filter, "$jsonSchema", NotYet),
    row(Part::Filter, "$text", NotYet),
    row(Part::Filter, "$where", NotYet),
    row(Part::Filter, "$sampleRate", NotYet),
    row(Part::Filter, "$geoIntersects", NotYet),
    row(Part::Filter, "$geoWithin", NotYet),
    row(Part::Filter, "$geoNear", NotYet),
    row(Part::Filter, "$near", NotYet),
    row(Part::Filter, "$nearSphere", NotYet),
    row(Part::Filter, "$within", NotYet),
    row(Part::Filter, "$geometry", NotYet),
    row(Part::Filter, "$box", NotYet),
    row(Part::Filter, "$center", NotYet),
    row(Part::Filter, "$centerSphere", NotYet),
    row(Part::Filter, "$polygon", NotYet),
    row(Part::Filter, "$maxDistance", NotYet),
    row(Part::Filter, "$minDistance", NotYet),
    row(Part::Filter, "$uniqueDocs", NotYet),
    row(Part::Projection, "$", Works),
    row(Part::Projection, "$elemMatch", Works),
    row(Part::Projection, "$slice", Works),
    row(Part::Projection, "$meta", NotYet),
    row(Part::Sort, "1", Differs(ARRAY_SORT)),
    row(Part::Sort, "-1", Differs(ARRAY_SORT)),
    row(Part::Sort, "$meta", NotYet),
    row(
        Part::Sort,
        "$natural",
        Differs("only as the whole sort of a `find`; the order is that of `_id`"),
    ),
    row(Part::Update, "$set", Works),
    row(Part::Update, "$setOnInsert", Works),
    row(Part::Update, "$unset", Works),
    row(Part::Update, "$inc", Works),
    row(Part::Update, "$mul", Works),
    row(Part::Update, "$min", Works),
    row(Part::Update, "$max", Works),
    row(Part::Update, "$rename", Works),
    row(Part::Update, "$currentDate", Differs(TIMESTAMP)),
    row(Part::Update, "$push", Works),
    row(Part::Update, "$addToSet", Works),
    row(Part::Update, "$pop", Works),
    row(Part::Update, "$pull", Works),
    row(Part::Update, "$pullAll", Works),
    row(Part::Update, "$bit", Works),
    row(Part::Update, "$", Works),
    row(Part::Update, "$[]", Works),
    row(Part::Update, "$[<identifier>]", Works),
    row(Part::UpdateModifier, "$each", Works),
    row(Part::UpdateModifier, "$position", Works),
    row(Part::UpdateModifier, "$slice", Works),
    row(Part::UpdateModifier, "$sort", Works),
];

#[cfg(test)]
mod tests;
