import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findNeeds } from './needs.ts';

const ROOT = resolve(import.meta.dirname, '..');
const readTexts = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] }).map((path) =>
    readFileSync(resolve(ROOT, path), 'utf8'),
  );

describe('what a run prepares', () => {
  it.each([
    ['nothing that no file asks for', '', []],
    ['nodes', "const { parts } = inject('nodes');", ['nodes']],
    ['CRI-O, and the nodes on whose disks it runs', "const { parts } = inject('crio');", ['nodes', 'crio']],
    ['Ironic', 'const missing = await isIronicMissing();', ['ironic']],
    ['Cluster API', "const { programs } = inject('clusterApi');", ['cluster api']],
    ['the oracle', 'oracle = await Oracle.start();', ['oracle']],
  ])('is %s', (_, text, needs) => {
    expect([...findNeeds([text])]).toEqual(needs);
  });

  it('is small for npm test: nothing of it takes longer than a minute or needs whole machines', () => {
    const needs = findNeeds(readTexts('{packages,tools,e2e,bench}/**/*.e2e.test.ts'));
    expect([...needs].toSorted()).toEqual(['ignition client', 'oracle']);
  });

  it('is found for every test that needs more', () => {
    const needs = findNeeds(readTexts('{packages,tools,e2e,bench}/**/*.{cluster,slow}.test.ts'));
    expect([...needs].toSorted()).toEqual([
      'cluster api',
      'controller manager',
      'crio',
      'ignition client',
      'ironic',
      'kubelet',
      'nodes',
      'oracle',
    ]);
  });
});
