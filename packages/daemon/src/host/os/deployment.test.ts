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

describe('the check of a staged deployment finds', () => {
  it.each<[what: string, next: Partial<Deployment>, change: OSChange, found: RegExp | null]>([
    ['nothing, if everything matches', { image: 'os:2' }, { image: 'os:2' }, null],
    ['another image', {}, { image: 'os:2' }, /Expected the image os:2, but the next boot has os:1/],
    [
      'nothing, if arguments of the image are between those of the config',
      { kernelArguments: ['root=x', 'image', 'quiet', 'a', 'b'] },
      { kernelArguments: { removed: ['a'], added: ['a', 'b'] } },
      null,
    ],
    [
      'an argument that was not added',
      { kernelArguments: ['root=x', 'a', 'quiet'] },
      { kernelArguments: { removed: [], added: ['b'] } },
      /Expected the kernel argument b/,
    ],
    [
      'an argument that was not removed',
      { kernelArguments: ['root=x', 'a', 'quiet'] },
      { kernelArguments: { removed: ['a'], added: [] } },
      /Expected no kernel argument a,/,
    ],
    [
      'arguments in another order',
      { kernelArguments: ['root=x', 'quiet', 'c', 'b'] },
      { kernelArguments: { removed: ['a'], added: ['b', 'c'] } },
      /argument c/,
    ],
    [
      'packages that were not added',
      {},
      { extensions: { before: [], after: ['usbguard'] } },
      /packages usbguard, vim .* has vim/,
    ],
    ['packages that were lost', { packages: [], image: 'os:2' }, { image: 'os:2' }, /packages vim .* has none/],
  ])('%s', (_what, next, change, found) => {
    const problems = checkStaged(booted, { ...booted, ...next }, change);
    expect(problems.join(' ')).toMatch(found ?? /^$/);
  });
});
