// Spec 3.5.0 to 3.6.0: setuid, setgid and sticky bits, which 3.5 ignores, would be set from now on: they are taken off.
import type { ConfigOf } from '../spec/index.ts';
import { withList } from './with-list.ts';

const SPECIAL_BITS = 0o7000;

export function v3_5ToV3_6(config: ConfigOf<'3.5.0'>): ConfigOf<'3.6.0'> {
  const ignition = { ...config.ignition, version: '3.6.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { directories, files, ...others } = storage;
  return {
    ...rest,
    ignition,
    storage: {
      ...others,
      ...withList('directories', directories?.map(withoutSpecialBits)),
      ...withList('files', files?.map(withoutSpecialBits)),
    },
  };
}

function withoutSpecialBits<N extends { mode?: number }>(node: N): N {
  if (node.mode === undefined || (node.mode & SPECIAL_BITS) === 0) return node;
  return { ...node, mode: node.mode & ~SPECIAL_BITS };
}
