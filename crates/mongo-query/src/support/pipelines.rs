//! The stages of pipelines, operators of expressions and accumulators of MongoDB 8, and how far
//! each is supported. The test below compares the tables with the parsers.

use super::Support;

/// Pipeline stages. Those about the server, such as `$collStats` and `$currentOp`, are not parsed
/// in this crate: the API replaces them by documents before it parses the rest of the pipeline.
pub static STAGES: &[(&str, Support)] = &[
    ("$addFields", Support::Works),
    ("$bucket", Support::Works),
    ("$bucketAuto", Support::Differs("without granularity")),
    ("$changeStream", Support::Differs("not on nodes of a cluster")),
    ("$changeStreamSplitLargeEvent", Support::Works),
    ("$collStats", Support::Works),
    ("$count", Support::Works),
    ("$currentOp", Support::Works),
    ("$densify", Support::NotYet),
    ("$documents", Support::Works),
    ("$facet", Support::Works),
    ("$fill", Support::NotYet),
    ("$geoNear", Support::Works),
    ("$graphLookup", Support::Works),
    ("$group", Support::Works),
    ("$indexStats", Support::Works),
    ("$limit", Support::Works),
    ("$listClusterCatalog", Support::NotYet),
    (
        "$listLocalSessions",
        Support::Differs("only sessions with a running operation or an open cursor on this node"),
    ),
    ("$listSampledQueries", Support::NotYet),
    ("$listSearchIndexes", Support::NotYet),
    ("$listSessions", Support::Differs("the same sessions as `$listLocalSessions`")),
    (
        "$lookup",
        Support::Differs(
            "without the form {db, coll} of from; a row's joined documents are at most 64 MB together unless `$unwind` follows",
        ),
    ),
    ("$match", Support::Works),
    ("$merge", Support::Works),
    ("$out", Support::Differs("without timeseries")),
    ("$planCacheStats", Support::NotYet),
    ("$project", Support::Works),
    ("$querySettings", Support::NotYet),
    ("$queryStats", Support::NotYet),
    ("$rankFusion", Support::NotYet),
    ("$redact", Support::Works),
    ("$replaceRoot", Support::Works),
    ("$replaceWith", Support::Works),
    ("$sample", Support::Works),
    ("$score", Support::NotYet),
    ("$scoreFusion", Support::NotYet),
    ("$search", Support::NotYet),
    ("$searchMeta", Support::NotYet),
    ("$set", Support::Works),
    ("$setWindowFields", Support::NotYet),
    ("$shardedDataDistribution", Support::NotYet),
    ("$skip", Support::Works),
    ("$sort", Support::Works),
    ("$sortByCount", Support::Works),
    ("$unionWith", Support::Differs("collections of the same database")),
    ("$unset", Support::Works),
    ("$unwind", Support::Works),
    ("$vectorSearch", Support::NotYet),
];

/// Operators of expressions: functions, and those with a special syntax.
pub static EXPRESSIONS: &[(&str, Support)] = &[
    ("$abs", Support::Works),
    ("$accumulator", Support::NotYet),
    ("$acos", Support::Differs("decimals to 15 digits")),
    ("$acosh", Support::Differs("decimals to 15 digits")),
    ("$add", Support::Works),
    ("$allElementsTrue", Support::Works),
    ("$and", Support::Works),
    ("$anyElementTrue", Support::Works),
    ("$arrayElemAt", Support::Works),
    ("$arrayToObject", Support::Works),
    ("$asin", Support::Differs("decimals to 15 digits")),
    ("$asinh", Support::Differs("decimals to 15 digits")),
    ("$atan", Support::Differs("decimals to 15 digits")),
    ("$atan2", Support::Differs("decimals to 15 digits")),
    ("$atanh", Support::Differs("decimals to 15 digits")),
    ("$avg", Support::Works),
    ("$binarySize", Support::Works),
    ("$bitAnd", Support::Works),
    ("$bitNot", Support::Works),
    ("$bitOr", Support::Works),
    ("$bitXor", Support::Works),
    ("$bsonSize", Support::Works),
    ("$ceil", Support::Works),
    ("$cmp", Support::Works),
    ("$concat", Support::Works),
    ("$concatArrays", Support::Works),
    ("$cond", Support::Works),
    ("$const", Support::Works),
    (
        "$convert",
        Support::Differs(
            "no conversion to or from binary data, arrays and objects; a double is converted to a string with all its digits",
        ),
    ),
    ("$cos", Support::Differs("decimals to 15 digits")),
    ("$cosh", Support::Differs("decimals to 15 digits")),
    ("$createObjectId", Support::NotYet),
    ("$dateAdd", Support::Works),
    ("$dateDiff", Support::Works),
    ("$dateFromParts", Support::Works),
    (
        "$dateFromString",
        Support::Differs("ISO 8601 and common date formats; fewer informal formats than MongoDB"),
    ),
    ("$dateSubtract", Support::Works),
    ("$dateToParts", Support::Works),
    ("$dateToString", Support::Works),
    ("$dateTrunc", Support::Works),
    ("$dayOfMonth", Support::Works),
    ("$dayOfWeek", Support::Works),
    ("$dayOfYear", Support::Works),
    ("$degreesToRadians", Support::Differs("decimals to 15 digits")),
    ("$divide", Support::Works),
    ("$encStrContains", Support::NotYet),
    ("$encStrEndsWith", Support::NotYet),
    ("$encStrNormalizedEq", Support::NotYet),
    ("$encStrStartsWith", Support::NotYet),
    ("$eq", Support::Works),
    ("$exp", Support::Differs("decimals to 15 digits")),
    ("$expr", Support::Works),
    ("$filter", Support::Works),
    ("$first", Support::Works),
    ("$firstN", Support::Works),
    ("$floor", Support::Works),
    ("$function", Support::NotYet),
    ("$getField", Support::Works),
    ("$gt", Support::Works),
    ("$gte", Support::Works),
    ("$hash", Support::NotYet),
    ("$hexHash", Support::NotYet),
    ("$hour", Support::Works),
    ("$ifNull", Support::Works),
    ("$in", Support::Works),
    ("$indexOfArray", Support::Works),
    ("$indexOfBytes", Support::Works),
    ("$indexOfCP", Support::Works),
    ("$isArray", Support::Works),
    ("$isNumber", Support::Works),
    ("$isoDayOfWeek", Support::Works),
    ("$isoWeek", Support::Works),
    ("$isoWeekYear", Support::Works),
    ("$last", Support::Works),
    ("$lastN", Support::Works),
    ("$let", Support::Works),
    ("$literal", Support::Works),
    ("$ln", Support::Differs("decimals to 15 digits")),
    ("$log", Support::Differs("decimals to 15 digits")),
    ("$log10", Support::Differs("decimals to 15 digits")),
    ("$lt", Support::Works),
    ("$lte", Support::Works),
    ("$ltrim", Support::Works),
    ("$map", Support::Works),
    ("$max", Support::Works),
    ("$maxN", Support::Works),
    ("$median", Support::Differs("exact instead of approximate")),
    ("$mergeObjects", Support::Works),
    ("$meta", Support::Differs("`textScore` only, before documents are reshaped")),
    ("$millisecond", Support::Works),
    ("$min", Support::Works),
    ("$minMaxScaler", Support::NotYet),
    ("$minN", Support::Works),
    ("$minute", Support::Works),
    ("$mod", Support::Works),
    ("$month", Support::Works),
    ("$multiply", Support::Works),
    ("$ne", Support::Works),
    ("$not", Support::Works),
    ("$objectToArray", Support::Works),
    ("$or", Support::Works),
    ("$percentile", Support::Differs("exact instead of approximate")),
    ("$pow", Support::Differs("fractional powers of decimals have 15 digits")),
    ("$radiansToDegrees", Support::Differs("decimals to 15 digits")),
    ("$rand", Support::Works),
    ("$range", Support::Works),
    ("$reduce", Support::Works),
    ("$regexFind", Support::Differs("patterns as in `$regex`")),
    ("$regexFindAll", Support::Differs("patterns as in `$regex`")),
    ("$regexMatch", Support::Differs("patterns as in `$regex`")),
    ("$replaceAll", Support::Works),
    ("$replaceOne", Support::Works),
    ("$reverseArray", Support::Works),
    ("$round", Support::Works),
    ("$rtrim", Support::Works),
    ("$second", Support::Works),
    ("$setDifference", Support::Works),
    ("$setEquals", Support::Works),
    ("$setField", Support::Works),
    ("$setIntersection", Support::Works),
    ("$setIsSubset", Support::Works),
    ("$setUnion", Support::Works),
    ("$sigmoid", Support::Differs("decimals to 15 digits")),
    ("$similarityCosine", Support::NotYet),
    ("$similarityDotProduct", Support::NotYet),
    ("$similarityEuclidean", Support::NotYet),
    ("$sin", Support::Differs("decimals to 15 digits")),
    ("$sinh", Support::Differs("decimals to 15 digits")),
    ("$size", Support::Works),
    ("$slice", Support::Works),
    ("$sortArray", Support::Works),
    ("$split", Support::Works),
    ("$sqrt", Support::Works),
    ("$stdDevPop", Support::Works),
    ("$stdDevSamp", Support::Works),
    ("$strcasecmp", Support::Works),
    ("$strLenBytes", Support::Works),
    ("$strLenCP", Support::Works),
    ("$substr", Support::Works),
    ("$substrBytes", Support::Works),
    ("$substrCP", Support::Works),
    ("$subtract", Support::Works),
    ("$sum", Support::Works),
    ("$switch", Support::Works),
    ("$tan", Support::Differs("decimals to 15 digits")),
    ("$tanh", Support::Differs("decimals to 15 digits")),
    ("$toArray", Support::NotYet),
    ("$toBool", Support::Works),
    ("$toDate", Support::Works),
    ("$toDecimal", Support::Works),
    ("$toDouble", Support::Works),
    ("$toHashedIndexKey", Support::NotYet),
    ("$toInt", Support::Works),
    ("$toLong", Support::Works),
    ("$toLower", Support::Works),
    ("$toObject", Support::NotYet),
    ("$toObjectId", Support::Works),
    ("$toString", Support::Works),
    ("$toUpper", Support::Works),
    ("$toUUID", Support::NotYet),
    ("$trim", Support::Works),
    ("$trunc", Support::Works),
    ("$tsIncrement", Support::Works),
    ("$tsSecond", Support::Works),
    ("$type", Support::Works),
    ("$unsetField", Support::Works),
    ("$week", Support::Works),
    ("$year", Support::Works),
    ("$zip", Support::Works),
];

/// Accumulators of `$group`, `$bucket` and `$bucketAuto`.
pub static ACCUMULATORS: &[(&str, Support)] = &[
    ("$accumulator", Support::NotYet),
    ("$addToSet", Support::Works),
    ("$avg", Support::Works),
    ("$bottom", Support::Works),
    ("$bottomN", Support::Works),
    ("$concatArrays", Support::Works),
    ("$count", Support::Works),
    ("$first", Support::Works),
    ("$firstN", Support::Works),
    ("$last", Support::Works),
    ("$lastN", Support::Works),
    ("$max", Support::Works),
    ("$maxN", Support::Works),
    ("$median", Support::Differs("exact instead of approximate")),
    ("$mergeObjects", Support::Works),
    ("$min", Support::Works),
    ("$minN", Support::Works),
    ("$percentile", Support::Differs("exact instead of approximate")),
    ("$push", Support::Works),
    ("$setUnion", Support::Works),
    ("$stdDevPop", Support::Works),
    ("$stdDevSamp", Support::Works),
    ("$sum", Support::Works),
    ("$top", Support::Works),
    ("$topN", Support::Works),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ::pipeline::{expr::functions, group};
    use document::{Document, Value};

    use super::*;
    use crate::{Error, expression, pipeline};

    /// Returns the names of a table, asserting that they are distinct.
    fn names(table: &[(&'static str, Support)]) -> BTreeSet<&'static str> {
        let names: BTreeSet<_> = table.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), table.len());
        names
    }

    /// Stages that the API replaces by documents, so that the parser refuses them.
    const OF_THE_API: [&str; 7] = [
        "$changeStream",
        "$changeStreamSplitLargeEvent",
        "$collStats",
        "$currentOp",
        "$indexStats",
        "$listLocalSessions",
        "$listSessions",
    ];

    fn single(name: &str, value: impl Into<Value>) -> Value {
        let mut fields = Document::new();
        fields.push(name, value);
        Value::Document(fields)
    }

    fn refused<T>(name: &str, result: Result<T, Error>) {
        match result {
            Ok(_) => panic!("{name} is not refused"),
            Err(error) => {
                assert_eq!((error.code, error.message.contains(name)), (238, true), "{error}");
            }
        }
    }

    #[test]
    fn stages_agree_with_the_parser() {
        names(STAGES);
        for (name, support) in STAGES.iter().filter(|(name, _)| !OF_THE_API.contains(name)) {
            assert_eq!(pipeline::is_known(name), *support != Support::NotYet, "{name}");
            if *support == Support::NotYet {
                let pipeline = Value::Array(vec![single(name, Document::new())]);
                let array = pipeline.as_ref().as_array().unwrap();
                refused(name, pipeline::parse(array));
            }
        }
        let known = pipeline::stage_names().chain(pipeline::NOT_YET.iter().copied());
        assert_eq!(known.collect::<BTreeSet<_>>(), names(STAGES));
    }

    #[test]
    fn expressions_agree_with_the_parser() {
        for (name, support) in EXPRESSIONS {
            if *support == Support::NotYet {
                refused(name, expression::parse(single(name, 1).as_ref()));
            }
        }
        let functions = functions::all_functions().map(|function| function.name);
        let special = expression::special_names();
        let known = functions.chain(special).chain(expression::NOT_YET.iter().copied());
        assert_eq!(known.collect::<BTreeSet<_>>(), names(EXPRESSIONS));
    }

    #[test]
    fn accumulators_agree_with_the_parser() {
        for (name, support) in ACCUMULATORS {
            if *support == Support::NotYet {
                let mut group = Document::new();
                group.push("_id", Value::Null);
                group.push("a", single(name, Document::new()));
                let pipeline = Value::Array(vec![single("$group", group)]);
                refused(name, pipeline::parse(pipeline.as_ref().as_array().unwrap()));
            }
        }
        let known = group::all_accumulators().map(|accumulator| accumulator.name);
        let known = known.chain(pipeline::ACCUMULATORS_NOT_YET.iter().copied());
        assert_eq!(known.collect::<BTreeSet<_>>(), names(ACCUMULATORS));
    }
}
