// Templates of stages to add to a pipeline. Pure.

/** In the order of the menu. */
export const TEMPLATES = [
  '{ $match: { field: "value" } }',
  '{ $project: { field: 1 } }',
  '{ $set: { field: "value" } }',
  '{ $unset: "field" }',
  '{ $sort: { field: 1 } }',
  '{ $skip: 10 }',
  '{ $limit: 10 }',
  '{ $group: { _id: "$field", count: { $sum: 1 } } }',
  '{ $sortByCount: "$field" }',
  '{ $count: "count" }',
  '{ $unwind: { path: "$field", preserveNullAndEmptyArrays: false } }',
  '{ $lookup: { from: "collection", localField: "field", foreignField: "_id", as: "found" } }',
  '{ $unionWith: { coll: "collection", pipeline: [] } }',
  '{ $bucket: { groupBy: "$field", boundaries: [0, 10, 100], default: "other" } }',
  '{ $facet: { first: [{ $limit: 5 }], count: [{ $count: "count" }] } }',
  '{ $replaceRoot: { newRoot: "$field" } }',
  '{ $sample: { size: 10 } }',
] as const;

/** Returns the operator of a stage, "$match". */
export function operatorOf(template: string): string {
  return /\$\w+/.exec(template)?.[0] ?? '';
}
