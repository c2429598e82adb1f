import { isDeepStrictEqual } from 'node:util';
import type { Deployment, OSChange } from '../host.ts';
import { changeKernelArguments } from './kernel-arguments.ts';
import { changePackages } from './packages.ts';

/** What the next boot would not bring, though every command said that it went well. One sentence each. */
export function checkStaged(booted: Deployment, next: Deployment, change: OSChange): string[] {
  return [...checkImage(next, change), ...checkArguments(booted, next, change), ...checkPackages(booted, next, change)];
}

function checkImage(next: Deployment, { image }: OSChange): string[] {
  if (image === undefined || next.image === image) return [];
  return [`Expected the image ${image}, the next boot has ${next.image || 'none'}.`];
}

/** The order counts among ours; a new image may have brought arguments of its own. */
function checkArguments(booted: Deployment, next: Deployment, { kernelArguments }: OSChange): string[] {
  if (kernelArguments === undefined) return [];
  const wanted = changeKernelArguments(booted.kernelArguments, kernelArguments);
  const left = [...wanted];
  for (const argument of next.kernelArguments) if (argument === left[0]) left.shift();
  const gone = kernelArguments.removed.filter(
    (argument) => next.kernelArguments.includes(argument) && !wanted.includes(argument),
  );
  return [
    ...(left.length === 0
      ? []
      : [`Expected the kernel argument ${left[0]}, the next boot has it not, or not in its place.`]),
    ...gone.map((argument) => `Expected the kernel argument ${argument} to be gone, the next boot still has it.`),
  ];
}

function checkPackages(booted: Deployment, next: Deployment, change: OSChange): string[] {
  const wanted = changePackages(booted.packages, change);
  if (isDeepStrictEqual(next.packages.toSorted(), wanted)) return [];
  const text = (names: readonly string[]) => names.join(', ') || 'none';
  return [`Expected the packages ${text(wanted)} beside those of the image, the next boot has ${text(next.packages)}.`];
}
