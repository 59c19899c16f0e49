//! The supported parts of MongoDB's language. `docs/compat/mongodb.md` is generated from these
//! tables, and tests compare them with the parsers, so that the page is complete and correct.
//! This file has the operators of filters, projections, sorts and updates.

/// The stages, expressions and accumulators of pipelines.
pub mod pipelines;

use Support::{Differs, NotYet, Works};

/// Degree to which a feature of MongoDB is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The feature works as in MongoDB.
    Works,
    /// Supported with this difference from MongoDB.
    Differs(&'static str),
    /// Refused with an error that names the feature.
    NotYet,
}

/// The part of the language to which an operator belongs. A name may have meanings in several
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguagePart {
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
    pub part: LanguagePart,
    /// Name of the operator, including the `$`.
    pub name: &'static str,
    /// Degree to which the operator is supported.
    pub support: Support,
}

const fn row(part: LanguagePart, name: &'static str, support: Support) -> Row {
    Row { part, name, support }
}

/// Differences between regular expressions here and in MongoDB.
const REGEX: &str = "the syntax of PCRE2 but for recursion, conditions, verbs, callouts, branch resets, \\C and \\X, \
                     which are refused by name (51091); matched in linear time but for look-behind, references back, \
                     atomic groups and possessive quantifiers, which fail on a text that takes too many steps (146); \
                     a look-behind may be of different lengths up to 255 characters";
/// Differences between schemas here and in MongoDB.
const SCHEMA: &str = "draft 4 and bsonType, with the keywords of MongoDB; without encrypt and encryptMetadata; \
                      regular expressions as in $regex";
/// Differences from MongoDB of sorts by paths through arrays.
const ARRAY_SORT: &str = "paths through two different arrays may sort by the first value of each \
                          where MongoDB refuses them";
/// Difference between a timestamp of `$currentDate` here and in MongoDB.
const TIMESTAMP: &str = "a timestamp's increment is the millisecond of its second, counted from 1";

/// Every operator of MongoDB 8 in the parts of its language that [`LanguagePart`] has. A test
/// parses the shortest use of each supported operator, and checks that all others are refused with
/// an error text that names them.
pub const TABLE: &[Row] = &[
    row(LanguagePart::Filter, "$eq", Works),
    row(LanguagePart::Filter, "$ne", Works),
    row(LanguagePart::Filter, "$gt", Works),
    row(LanguagePart::Filter, "$gte", Works),
    row(LanguagePart::Filter, "$lt", Works),
    row(LanguagePart::Filter, "$lte", Works),
    row(LanguagePart::Filter, "$in", Works),
    row(LanguagePart::Filter, "$nin", Works),
    row(LanguagePart::Filter, "$and", Works),
    row(LanguagePart::Filter, "$or", Works),
    row(LanguagePart::Filter, "$nor", Works),
    row(LanguagePart::Filter, "$not", Works),
    row(LanguagePart::Filter, "$exists", Works),
    row(LanguagePart::Filter, "$type", Works),
    row(LanguagePart::Filter, "$expr", Works),
    row(LanguagePart::Filter, "$mod", Works),
    row(LanguagePart::Filter, "$regex", Differs(REGEX)),
    row(LanguagePart::Filter, "$options", Works),
    row(LanguagePart::Filter, "$all", Works),
    row(LanguagePart::Filter, "$elemMatch", Works),
    row(LanguagePart::Filter, "$size", Works),
    row(LanguagePart::Filter, "$bitsAllSet", Works),
    row(LanguagePart::Filter, "$bitsAnySet", Works),
    row(LanguagePart::Filter, "$bitsAllClear", Works),
    row(LanguagePart::Filter, "$bitsAnyClear", Works),
    row(LanguagePart::Filter, "$comment", Works),
    row(LanguagePart::Filter, "$alwaysTrue", Works),
    row(LanguagePart::Filter, "$alwaysFalse", Works),
    row(LanguagePart::Filter, "$jsonSchema", Differs(SCHEMA)),
    row(LanguagePart::Filter, "$text", Works),
    row(LanguagePart::Filter, "$where", NotYet),
    row(LanguagePart::Filter, "$sampleRate", NotYet),
    row(LanguagePart::Filter, "$geoIntersects", Works),
    row(LanguagePart::Filter, "$geoWithin", Works),
    row(LanguagePart::Filter, "$geoNear", Works),
    row(LanguagePart::Filter, "$near", Works),
    row(LanguagePart::Filter, "$nearSphere", Works),
    row(LanguagePart::Filter, "$within", Works),
    row(LanguagePart::Filter, "$geometry", Works),
    row(LanguagePart::Filter, "$box", Works),
    row(LanguagePart::Filter, "$center", Works),
    row(LanguagePart::Filter, "$centerSphere", Works),
    row(LanguagePart::Filter, "$polygon", Works),
    row(LanguagePart::Filter, "$maxDistance", Works),
    row(LanguagePart::Filter, "$minDistance", Works),
    row(LanguagePart::Filter, "$uniqueDocs", Works),
    row(LanguagePart::Projection, "$", Works),
    row(LanguagePart::Projection, "$elemMatch", Works),
    row(LanguagePart::Projection, "$slice", Works),
    row(LanguagePart::Projection, "$meta", Differs("`textScore` only")),
    row(LanguagePart::Sort, "1", Differs(ARRAY_SORT)),
    row(LanguagePart::Sort, "-1", Differs(ARRAY_SORT)),
    row(LanguagePart::Sort, "$meta", Differs("`textScore` only")),
    row(
        LanguagePart::Sort,
        "$natural",
        Differs(
            "only as the whole sort of a `find`; the order is that of `_id`, in a capped collection that \
             of the inserts",
        ),
    ),
    row(LanguagePart::Update, "$set", Works),
    row(LanguagePart::Update, "$setOnInsert", Works),
    row(LanguagePart::Update, "$unset", Works),
    row(LanguagePart::Update, "$inc", Works),
    row(LanguagePart::Update, "$mul", Works),
    row(LanguagePart::Update, "$min", Works),
    row(LanguagePart::Update, "$max", Works),
    row(LanguagePart::Update, "$rename", Works),
    row(LanguagePart::Update, "$currentDate", Differs(TIMESTAMP)),
    row(LanguagePart::Update, "$push", Works),
    row(LanguagePart::Update, "$addToSet", Works),
    row(LanguagePart::Update, "$pop", Works),
    row(LanguagePart::Update, "$pull", Works),
    row(LanguagePart::Update, "$pullAll", Works),
    row(LanguagePart::Update, "$bit", Works),
    row(LanguagePart::Update, "$", Works),
    row(LanguagePart::Update, "$[]", Works),
    row(LanguagePart::Update, "$[<identifier>]", Works),
    row(LanguagePart::UpdateModifier, "$each", Works),
    row(LanguagePart::UpdateModifier, "$position", Works),
    row(LanguagePart::UpdateModifier, "$slice", Works),
    row(LanguagePart::UpdateModifier, "$sort", Works),
];

#[cfg(test)]
mod tests;
