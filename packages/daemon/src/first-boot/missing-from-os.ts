// What a machine that was installed from a boot image still lacks of its config: Ignition writes files, not the OS.
import { splitArguments } from '@slipway/fleet';
import type { Deployment, OSChange } from '../host/host.ts';
import { digestOf, packagesOfExtensions, packagesOfKernel } from '../host/os/deployment.ts';
import type { StoredConfig } from '../stored-config.ts';

/** Null: nothing. */
export function missingFromOS(booted: Deployment, { spec }: StoredConfig): OSChange | null {
  const change = { ...missingImage(booted, spec), ...missingArguments(booted, spec), ...missingPackages(booted, spec) };
  if (Object.keys(change).length === 0) return null;
  const packages = [...packagesOfExtensions(spec.extensions ?? []), ...packagesOfKernel(spec.kernelType ?? '')];
  return packages.length === 0 ? change : { ...change, extensionsImage: spec.baseOSExtensionsContainerImage ?? '' };
}

type Spec = StoredConfig['spec'];

/** By its digest, where both have one: the same image may come from a mirror. */
function missingImage(booted: Deployment, { osImageURL: image = '' }: Spec): OSChange {
  const digest = digestOf(image);
  const isThere = booted.image === image || (digest !== '' && digest === booted.digest);
  return image === '' || isThere ? {} : { image };
}

/** One that is wanted twice and there once is missing once. */
function missingArguments(booted: Deployment, { kernelArguments }: Spec): OSChange {
  const wanted = (kernelArguments ?? []).flatMap(splitArguments);
  const left = [...booted.kernelArguments];
  const added = wanted.filter((argument) => {
    const at = left.indexOf(argument);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return added.length === 0 ? {} : { kernelArguments: { removed: [], added, all: { before: [], after: wanted } } };
}

function missingPackages(booted: Deployment, { extensions = [], kernelType = 'default' }: Spec): OSChange {
  const isMissing = (name: string) => !booted.packages.includes(name);
  return {
    ...(packagesOfExtensions(extensions).some(isMissing) && { extensions: { before: [], after: extensions } }),
    ...(packagesOfKernel(kernelType).some(isMissing) && { kernelType: { before: 'default', after: kernelType } }),
  };
}
