import { expect, test } from 'vitest';
import { parsePlace } from '../state/place';
import { titleOf } from './title';

test.each([
  ['/', 'EbbDB'],
  ['/features', 'Features · EbbDB'],
  ['/monitor', 'Metrics · EbbDB'],
  ['/mongo/app', 'app · EbbDB'],
  ['/nosql/app/sessions/settings', 'sessions · Scale & settings · EbbDB'],
  ['/mongo/app/sessions/settings', 'sessions · Scale & settings · EbbDB'],
  ['/nosql/app/a%2Fb', 'a/b · Items · EbbDB'],
  ['/nowhere', 'Not found · EbbDB'],
])('%s is titled %s', (path, want) => expect(titleOf(parsePlace(path))).toBe(want));
