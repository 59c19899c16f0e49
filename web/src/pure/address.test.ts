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
  const at = (address: string, needsTls = false) => ({ address, needsTls });
  expect(mongoUri(at('h:1'), 'app')).toBe('mongodb://h:1/app?directConnection=true');
  expect(mongoUri(at('h:1', true))).toBe('mongodb://h:1/?directConnection=true&tls=true');
  expect(connectionString(at('h:1'), 'a==')).toBe('AccountEndpoint=http://h:1/;AccountKey=a==;');
  expect(connectionString(at('h:1', true), 'a')).toBe('AccountEndpoint=https://h:1/;AccountKey=a;');
  expect(secureEndpoint(at('127.0.0.1:8081'))).toBe('https://localhost:8081/');
  expect(secureEndpoint(at('box:8081'))).toBe('https://box:8081/');
});
