// The languages that the front page has a first program for, in the order of its tabs.
import { go, rust } from './compiled';
import { csharp, java } from './managed';
import { mongosh, node, python } from './scripts';

export const PLATFORMS = [mongosh, python, node, java, go, rust, csharp] as const;
