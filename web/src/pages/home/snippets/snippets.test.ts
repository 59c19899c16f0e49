import { describe, expect, test } from 'vitest';
import { PLATFORMS } from './platforms';
import { snippetsOf } from './snippet';

const at = (address: string) => ({ address, needsTls: false });
const facts = { mongo: at('127.0.0.1:40001'), cosmos: at('127.0.0.1:40002'), key: 'a+/key==' };

describe.each(PLATFORMS.map((platform) => [platform.label, platform] as const))(
  '%s',
  (_, platform) => {
    test('programs name this server and its key, and set a time to live', () => {
      const made = snippetsOf(platform, facts);
      expect(made.length).toBe(platform.key === 'mongosh' ? 1 : 2);
      for (const { code, install } of made) {
        const whole = install + code;
        expect(whole).toMatch(/127\.0\.0\.1:4000[12]|localhost:40002/);
        expect(code).toContain('ttl');
        expect(code).toMatch(/3600|FromHours\(1\)/);
        expect(code).not.toMatch(/undefined|null|\$\{/);
        if (whole.includes('40002')) expect(code).toContain(facts.key);
      }
    });
    test('programs use the mode of connection that is the default', () => {
      for (const { code } of snippetsOf(platform, facts)) {
        expect(code).not.toMatch(/gateway/i);
        const isManaged = platform.key === 'java' || platform.key === 'csharp';
        if (isManaged && code.includes('40002')) expect(code).toMatch(/ebb cert export/);
      }
    });
    test('a door that is off has no program', () => {
      expect(snippetsOf(platform, { ...facts, mongo: null, cosmos: null })).toEqual([]);
    });
  },
);
