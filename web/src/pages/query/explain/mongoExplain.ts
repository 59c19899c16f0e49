// Explains a command of the MongoDB API by the server's explain, and creates the advised index.
import { type Document, run } from '../../../api/mongo';
import { mongoAdvice } from '../../../pure/explain/mongoAdvice';
import { explainedPlan, nodesOf } from '../../../pure/explain/plan';
import type { Explanation } from './explanation';

export function mongoExplanation(database: string, answer: Document): Explanation {
  const plan = explainedPlan(answer);
  const advice = mongoAdvice(answer);
  const indexes = nodesOf(plan.root).flatMap(({ index }) => (index === null ? [] : [index]));
  const apply = async () => {
    if (advice === null) return '';
    const { collection, key, name } = advice;
    await run(database, { createIndexes: collection, indexes: [{ key, name }] });
    return `Created index ${name} on ${database}.${collection}.`;
  };
  return {
    plan,
    indexes: [...new Set(indexes)],
    advice: advice === null ? null : { sentence: advice.sentence, apply },
    note: 'Measured by running the query again with explain.',
  };
}
