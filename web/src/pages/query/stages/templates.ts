// Stages that can be added to a pipeline, each with something in it that can be read and changed. Pure.

/** In the order in which they are offered. */
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

/** "$match" of a stage. */
export function operatorOf(template: string): string {
  return /\$\w+/.exec(template)?.[0] ?? '';
}
