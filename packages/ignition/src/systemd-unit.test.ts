import { describe, expect, it } from 'vitest';
import { readUnit } from './systemd-unit.ts';

const readSections = (contents: string) => {
  const reading = readUnit(contents);
  return reading.ok ? [...reading.sections] : reading.problem;
};

describe('a unit file is read', () => {
  it.each([
    ['', []],
    ['no section at all', []],
    ['[Unit]', []],
    ['[Unit]\nDescription=x\n', ['Unit']],
    ['[Unit]\nDescription=x\n[Install]\nWantedBy=a\n', ['Unit', 'Install']],
    ['[Unit]\n[Install]\n', []],
    ['# [Unit]\nDescription\n', []],
    ['[Unit]\n# a = comment \\\n that goes on\nA=b', ['Unit']],
    ['[Unit]\nA=b \\\n  c\\\n  d\n[Install]\nE=f', ['Unit', 'Install']],
    ['[Unit]\nA=\\', ['Unit']],
    ['[Unit]\n;\\', []],
    ['[Unit] \u00a0\nA=', ['Unit']],
    ['[Unit]\r\nA=b\r\n', ['Unit']],
    ['[Un\nit]\nA=b', ['Un\nit']],
    ['text [Unit]\nA=b', ['Unit']],
    ['[Unit]\n\u2003A=b', ['Unit']],
  ])('%j: sections %j', (contents, sections) => {
    expect(readSections(contents)).toEqual(sections);
  });
});

describe('a unit file is refused', () => {
  it.each([
    ['[Unit', 'has no "]"'],
    ['[Unit] x\n', 'a section name is followed by text'],
    ['[Unit]\nDescription\nA=b', 'has no "="'],
    ['[Unit]\nDescription', 'has no "="'],
    ['[Unit]\n\ufeffA\n', 'has no "="'],
    [`[Unit]\nA=${'x'.repeat(3000)}\n`, 'longer than 2048 bytes'],
    [`[Unit]\nA=${'é'.repeat(1500)}\n`, 'longer than 2048 bytes'],
  ])('%j', (contents, problem) => {
    expect(readSections(contents)).toContain(problem);
  });

  it('for a long line only if the client has read that far ahead', () => {
    // It checks with 2048 bytes ahead; here fewer are left of the first 4096 that it read.
    expect(readSections(`[Unit]\nA=${'x'.repeat(2043)}\n`)).toEqual(['Unit']);
    expect(readSections(`[Unit]\n${'#\n'.repeat(1500)}A=${'x'.repeat(3000)}\n`)).toEqual(['Unit']);
  });
});

it('a large file of short lines takes linear time', () => {
  const began = process.threadCpuUsage();
  readUnit(`${'x'.repeat(2040)}\n`.repeat(500));
  readUnit(`[Unit]\n${'A=b\n'.repeat(200_000)}`);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2000);
});
