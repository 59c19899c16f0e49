// Languages of the first programs on the home page, in tab order.
import { go, rust } from './compiled';
import { csharp, java } from './managed';
import { mongosh, node, python } from './scripts';

export const PLATFORMS = [mongosh, python, node, java, go, rust, csharp] as const;
