//! What of MongoDB's query, projection, sort and update language is supported, row by row; the
//! documentation is printed from it and a test holds it against the parsers.

/// How far something is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As in MongoDB.
    Works,
    /// It works, but not in every way as in MongoDB.
    Differs(&'static str),
    /// It is refused with an error that names it.
    NotYet,
}

/// Where an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In a filter.
    Filter,
    /// In the projection of a find.
    Projection,
    /// In a sort.
    Sort,
    /// In an update.
    Update,
    /// Beside `$each` in an array operator of an update.
    UpdateModifier,
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where it stands.
    pub part: Part,
    /// Its name.
    pub name: &'static str,
    /// How far it is supported.
    pub support: Support,
}

const fn row(part: Part, name: &'static str, support: Support) -> Row {
    Row { part, name, support }
}

const REGEX: &str = "matched in linear time, so look-behind, look-ahead beside flags inside of the pattern, references back, recursion, atomic \
                     groups and possessive quantifiers are refused by name";
const ARRAY_SORT: &str = "paths through two different arrays may sort by the first value of each \
                          where MongoDB refuses them";
const TIMESTAMP: &str = "a timestamp's increment is the millisecond of its second, counted from 1";

/// Every operator of MongoDB 8 in these parts.
pub const TABLE: &[Row] = &[
    row(Part::Filter, "$eq", Support::Works),
    row(Part::Filter, "$ne", Support::Works),
    row(Part::Filter, "$gt", Support::Works),
    row(Part::Filter, "$gte", Support::Works),
    row(Part::Filter, "$lt", Support::Works),
    row(Part::Filter, "$lte", Support::Works),
    row(Part::Filter, "$in", Support::Works),
    row(Part::Filter, "$nin", Support::Works),
    row(Part::Filter, "$and", Support::Works),
    row(Part::Filter, "$or", Support::Works),
    row(Part::Filter, "$nor", Support::Works),
    row(Part::Filter, "$not", Support::Works),
    row(Part::Filter, "$exists", Support::Works),
    row(Part::Filter, "$type", Support::Works),
    row(Part::Filter, "$expr", Support::Works),
    row(Part::Filter, "$mod", Support::Works),
    row(Part::Filter, "$regex", Support::Differs(REGEX)),
    row(Part::Filter, "$options", Support::Works),
    row(Part::Filter, "$all", Support::Works),
    row(Part::Filter, "$elemMatch", Support::Works),
    row(Part::Filter, "$size", Support::Works),
    row(Part::Filter, "$bitsAllSet", Support::Works),
    row(Part::Filter, "$bitsAnySet", Support::Works),
    row(Part::Filter, "$bitsAllClear", Support::Works),
    row(Part::Filter, "$bitsAnyClear", Support::Works),
    row(Part::Filter, "$comment", Support::Works),
    row(Part::Filter, "$alwaysTrue", Support::Works),
    row(Part::Filter, "$alwaysFalse", Support::Works),
    row(Part::Filter, "$jsonSchema", Support::NotYet),
    row(Part::Filter, "$text", Support::NotYet),
    row(Part::Filter, "$where", Support::NotYet),
    row(Part::Filter, "$sampleRate", Support::NotYet),
    row(Part::Filter, "$geoIntersects", Support::NotYet),
    row(Part::Filter, "$geoWithin", Support::NotYet),
    row(Part::Filter, "$geoNear", Support::NotYet),
    row(Part::Filter, "$near", Support::NotYet),
    row(Part::Filter, "$nearSphere", Support::NotYet),
    row(Part::Filter, "$within", Support::NotYet),
    row(Part::Filter, "$geometry", Support::NotYet),
    row(Part::Filter, "$box", Support::NotYet),
    row(Part::Filter, "$center", Support::NotYet),
    row(Part::Filter, "$centerSphere", Support::NotYet),
    row(Part::Filter, "$polygon", Support::NotYet),
    row(Part::Filter, "$maxDistance", Support::NotYet),
    row(Part::Filter, "$minDistance", Support::NotYet),
    row(Part::Filter, "$uniqueDocs", Support::NotYet),
    row(Part::Projection, "$", Support::Works),
    row(Part::Projection, "$elemMatch", Support::Works),
    row(Part::Projection, "$slice", Support::Works),
    row(Part::Projection, "$meta", Support::NotYet),
    row(Part::Sort, "1", Support::Differs(ARRAY_SORT)),
    row(Part::Sort, "-1", Support::Differs(ARRAY_SORT)),
    row(Part::Sort, "$meta", Support::NotYet),
    row(Part::Sort, "$natural", Support::NotYet),
    row(Part::Update, "$set", Support::Works),
    row(Part::Update, "$setOnInsert", Support::Works),
    row(Part::Update, "$unset", Support::Works),
    row(Part::Update, "$inc", Support::Works),
    row(Part::Update, "$mul", Support::Works),
    row(Part::Update, "$min", Support::Works),
    row(Part::Update, "$max", Support::Works),
    row(Part::Update, "$rename", Support::Works),
    row(Part::Update, "$currentDate", Support::Differs(TIMESTAMP)),
    row(Part::Update, "$push", Support::Works),
    row(Part::Update, "$addToSet", Support::Works),
    row(Part::Update, "$pop", Support::Works),
    row(Part::Update, "$pull", Support::Works),
    row(Part::Update, "$pullAll", Support::Works),
    row(Part::Update, "$bit", Support::Works),
    row(Part::Update, "$", Support::Works),
    row(Part::Update, "$[]", Support::Works),
    row(Part::Update, "$[<identifier>]", Support::Works),
    row(Part::UpdateModifier, "$each", Support::Works),
    row(Part::UpdateModifier, "$position", Support::Works),
    row(Part::UpdateModifier, "$slice", Support::Works),
    row(Part::UpdateModifier, "$sort", Support::Works),
];

#[cfg(test)]
mod tests;
