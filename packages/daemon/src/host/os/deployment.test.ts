import { describe, expect, it } from 'vitest';
import type { Deployment, OSChange } from '../host.ts';
import { checkStaged } from './deployment.ts';

const booted: Deployment = {
  image: 'os:1',
  digest: '',
  version: '',
  kernelArguments: ['root=x', 'a', 'quiet'],
  packages: ['vim'],
};

describe('what is staged is looked at again', () => {
  it.each<[what: string, next: Partial<Deployment>, change: OSChange, found: RegExp | null]>([
    ['all as asked', { image: 'os:2' }, { image: 'os:2' }, null],
    ['another image', {}, { image: 'os:2' }, /Expected the image os:2, the next boot has os:1/],
    [
      'arguments as asked, with others of the image between them',
      { kernelArguments: ['root=x', 'image', 'quiet', 'a', 'b'] },
      { kernelArguments: { removed: ['a'], added: ['a', 'b'] } },
      null,
    ],
    [
      'an argument that did not come',
      { kernelArguments: ['root=x', 'a', 'quiet'] },
      { kernelArguments: { removed: [], added: ['b'] } },
      /Expected the kernel argument b/,
    ],
    [
      'an argument that did not go',
      { kernelArguments: ['root=x', 'a', 'quiet'] },
      { kernelArguments: { removed: ['a'], added: [] } },
      /argument a to be gone/,
    ],
    [
      'arguments in another order',
      { kernelArguments: ['root=x', 'quiet', 'c', 'b'] },
      { kernelArguments: { removed: ['a'], added: ['b', 'c'] } },
      /argument c/,
    ],
    [
      'packages that did not come',
      {},
      { extensions: { before: [], after: ['usbguard'] } },
      /packages usbguard, vim .* has vim/,
    ],
    ['packages that got lost', { packages: [], image: 'os:2' }, { image: 'os:2' }, /packages vim .* has none/],
  ])('%s', (_what, next, change, found) => {
    const problems = checkStaged(booted, { ...booted, ...next }, change);
    expect(problems.join(' ')).toMatch(found ?? /^$/);
  });
});
