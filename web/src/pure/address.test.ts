import { expect, test } from 'vitest';
import { connectionString, mongoUri, reachable, secureEndpoint } from './address';

test.each([
  ['127.0.0.1:27017', '127.0.0.1:27017'],
  ['0.0.0.0:27017', 'box.lan:27017'],
  ['[::]:8081', 'box.lan:8081'],
  ['[::1]:8081', '[::1]:8081'],
  ['192.168.1.5:1', '192.168.1.5:1'],
  ['odd', 'odd'],
])('%s is reached as %s', (address, want) => expect(reachable(address, 'box.lan')).toBe(want));

test('strings that connect', () => {
  expect(mongoUri('h:1', 'app')).toBe('mongodb://h:1/app?directConnection=true');
  expect(connectionString('h:1', 'a==')).toBe('AccountEndpoint=http://h:1/;AccountKey=a==;');
  expect(secureEndpoint('127.0.0.1:8081')).toBe('https://localhost:8081/');
  expect(secureEndpoint('box:8081')).toBe('https://box:8081/');
});
