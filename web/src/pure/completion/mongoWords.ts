// The MongoDB operators that this server supports, by position, and their snippets. A test compares
// the names with docs/compat/mongodb.md.

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

export const FILTERS =
  names(`$eq $ne $gt $gte $lt $lte $in $nin $and $or $nor $not $exists $type $expr $mod $regex $options
$all $elemMatch $size $bitsAllSet $bitsAnySet $bitsAllClear $bitsAnyClear $comment $alwaysTrue
$alwaysFalse $jsonSchema $text $geoIntersects $geoWithin $geoNear $near $nearSphere $within $geometry
$box $center $centerSphere $polygon $maxDistance $minDistance $uniqueDocs`);

export const UPDATES =
  names(`$set $setOnInsert $unset $inc $mul $min $max $rename $currentDate $push $addToSet $pop $pull
$pullAll $bit`);

export const MODIFIERS = names(`$each $position $slice $sort`);

export const STAGES =
  names(`$addFields $bucket $bucketAuto $changeStream $changeStreamSplitLargeEvent $collStats
$count $currentOp $documents $facet $geoNear $graphLookup $group $indexStats $limit
$listLocalSessions $listSessions $lookup $match $merge $out $project $redact $replaceRoot
$replaceWith $sample $set $skip $sort $sortByCount $unionWith $unset $unwind`);

export const ACCUMULATORS =
  names(`$addToSet $avg $bottom $bottomN $concatArrays $count $first $firstN $last $lastN $max $maxN
$median $mergeObjects $min $minN $percentile $push $setUnion $stdDevPop $stdDevSamp $sum $top
$topN`);

export const EXPRESSIONS =
  names(`$abs $acos $acosh $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin
$asinh $atan $atan2 $atanh $avg $binarySize $bitAnd $bitNot $bitOr $bitXor $bsonSize $ceil $cmp
$concat $concatArrays $cond $const $convert $cos $cosh $dateAdd $dateDiff $dateFromParts
$dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek
$dayOfYear $degreesToRadians $divide $eq $exp $expr $filter $first $firstN $floor $getField $gt
$gte $hour $ifNull $in $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber $isoDayOfWeek
$isoWeek $isoWeekYear $last $lastN $let $literal $ln $log $log10 $lt $lte $ltrim $map $max $maxN
$median $mergeObjects $meta $millisecond $min $minN $minute $mod $month $multiply $ne $not
$objectToArray $or $percentile $pow $radiansToDegrees $rand $range $reduce $regexFind
$regexFindAll $regexMatch $replaceAll $replaceOne $reverseArray $round $rtrim $second
$setDifference $setEquals $setField $setIntersection $setIsSubset $setUnion $sigmoid $sin $sinh
$size $slice $sortArray $split $sqrt $stdDevPop $stdDevSamp $strcasecmp $strLenBytes $strLenCP
$substr $substrBytes $substrCP $subtract $sum $switch $tan $tanh $toBool $toDate $toDecimal
$toDouble $toInt $toLong $toLower $toObjectId $toString $toUpper $trim $trunc $tsIncrement
$tsSecond $type $unsetField $week $year $zip`);

export const PROJECTIONS = names(`$elemMatch $slice $meta`);

/** Text after an operator's colon; `|` marks the cursor. */
const BODIES: Readonly<Record<string, string>> = {
  $and: '[{ | }]',
  $or: '[{ | }]',
  $nor: '[{ | }]',
  $in: '[|]',
  $nin: '[|]',
  $all: '[|]',
  $not: '{ | }',
  $expr: '{ | }',
  $elemMatch: '{ | }',
  $exists: 'true|',
  $regex: '"|"',
  $type: '"|"',
  $mod: '[|, 0]',
  $text: '{ $search: "|" }',
  $meta: '"textScore|"',
  $geoWithin: '{ $geometry: { | } }',
  $geoIntersects: '{ $geometry: { | } }',
  $near: '{ $geometry: { type: "Point", coordinates: [|] } }',
  $nearSphere: '{ $geometry: { type: "Point", coordinates: [|] } }',
  $geoNear: '{ near: { type: "Point", coordinates: [|] }, distanceField: "distance" }',
  $set: '{ | }',
  $setOnInsert: '{ | }',
  $unset: '{ | }',
  $inc: '{ | }',
  $mul: '{ | }',
  $rename: '{ | }',
  $currentDate: '{ |: true }',
  $push: '{ | }',
  $pull: '{ | }',
  $pullAll: '{ | }',
  $each: '[|]',
  $match: '{ | }',
  $project: '{ | }',
  $addFields: '{ | }',
  $sort: '{ |: 1 }',
  $limit: '|20',
  $skip: '|0',
  $count: '"|count"',
  $group: '{ _id: "$|" }',
  $unwind: '"$|"',
  $sortByCount: '"$|"',
  $replaceRoot: '{ newRoot: "$|" }',
  $replaceWith: '"$|"',
  $sample: '{ size: |20 }',
  $lookup: '{ from: "|", localField: "", foreignField: "", as: "" }',
  $unionWith: '"|"',
  $facet: '{ |: [] }',
  $out: '"|"',
  $merge: '{ into: "|" }',
  $bucket: '{ groupBy: "$|", boundaries: [] }',
  $bucketAuto: '{ groupBy: "$|", buckets: 5 }',
  $graphLookup: '{ from: "|", startWith: "", connectFromField: "", connectToField: "", as: "" }',
  $sum: '|1',
  $avg: '"$|"',
  $cond: '{ if: |, then: null, else: null }',
  $ifNull: '["$|", null]',
  $filter: '{ input: "$|", cond: {} }',
  $map: '{ input: "$|", in: "$$this" }',
  $reduce: '{ input: "$|", initialValue: 0, in: {} }',
  $dateTrunc: '{ date: "$|", unit: "day" }',
  $dateToString: '{ date: "$|", format: "%Y-%m-%d" }',
  $switch: '{ branches: [{ case: |, then: null }], default: null }',
};

/** Returns the text to insert for an operator, and the cursor position within it. */
export function operatorText(name: string): { insert: string; cursor: number } {
  const body = `${name}: ${Object.hasOwn(BODIES, name) ? BODIES[name] : '|'}`;
  return { insert: body.replace('|', ''), cursor: body.indexOf('|') };
}
