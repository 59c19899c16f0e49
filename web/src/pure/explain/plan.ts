// Parses MongoDB's explain output into a tree of stages with examined and returned counts. Gives no
// advice.
import { printShell } from '../shell';

export interface PlanNode {
  stage: string;
  index: string | null;
  /** Index key in shell syntax. */
  keys: string | null;
  keysExamined: number | null;
  documentsExamined: number | null;
  returned: number | null;
  children: PlanNode[];
}

export interface Explained {
  root: PlanNode | null;
  keysExamined: number | null;
  documentsExamined: number | null;
  returned: number | null;
  ms: number | null;
}

type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberIn(tree: Tree, name: string): number | null {
  return tree[name] === undefined ? null : Number(tree[name]);
}

const DEEPEST = 100;

function nodeOf(value: unknown, depth: number): PlanNode[] {
  if (!isTree(value) || depth > DEEPEST) return [];
  const stage = typeof value.stage === 'string' ? value.stage : 'unknown';
  const several = Array.isArray(value.inputStages) ? (value.inputStages as unknown[]) : [];
  const inputs = [value.inputStage, ...several];
  const named = typeof value.indexName === 'string' ? value.indexName : null;
  const node: PlanNode = {
    stage,
    index: named ?? (stage === 'IDHACK' ? '_id_' : null),
    keys: isTree(value.keyPattern) ? printShell(value.keyPattern, 0) : null,
    keysExamined: numberIn(value, 'keysExamined'),
    documentsExamined: numberIn(value, 'docsExamined'),
    returned: numberIn(value, 'nReturned'),
    children: inputs.flatMap((input) => nodeOf(input, depth + 1)),
  };
  return [node];
}

/** Parses an explain response of any verbosity. */
export function explainedPlan(answer: unknown): Explained {
  const tree = isTree(answer) ? answer : {};
  const planner = isTree(tree.queryPlanner) ? tree.queryPlanner : {};
  const stats = isTree(tree.executionStats) ? tree.executionStats : {};
  const [root] = nodeOf(stats.executionStages ?? planner.winningPlan, 0);
  return {
    root: root ?? null,
    keysExamined: numberIn(stats, 'totalKeysExamined'),
    documentsExamined: numberIn(stats, 'totalDocsExamined'),
    returned: numberIn(stats, 'nReturned'),
    ms: numberIn(stats, 'executionTimeMillis'),
  };
}

/** Returns the nodes of a plan in preorder. */
export function nodesOf(root: PlanNode | null): PlanNode[] {
  return root === null ? [] : [root, ...root.children.flatMap(nodesOf)];
}
