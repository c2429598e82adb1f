// Spec 3.5.0 and 3.6.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import type { SpecVersion } from '../version.ts';
import { withList } from './step.ts';

const SPECIAL_BITS = 0o7000;

/** 3.6 would set setuid, setgid and sticky bits, which 3.5 ignores: they are removed. */
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

/** 3.5 ignores setuid, setgid and sticky bits, so it cannot express them. */
export function v3_6ToV3_5(config: ConfigOf<'3.6.0'>, findings: Findings): ConfigOf<'3.5.0'> {
  refuseSpecialBits(config.storage, '3.5.0', findings);
  return { ...config, ignition: { ...config.ignition, version: '3.5.0' } };
}

interface Nodes {
  readonly directories?: readonly { readonly mode?: number }[];
  readonly files?: readonly { readonly mode?: number }[];
}

/** Setuid, setgid and sticky bits that the older spec would not set. */
export function refuseSpecialBits(storage: Nodes | undefined, to: SpecVersion, findings: Findings): void {
  for (const list of ['directories', 'files'] as const) {
    storage?.[list]?.forEach(({ mode }, index) => {
      if (mode === undefined || (mode & SPECIAL_BITS) === 0) return;
      const octal = `0${mode.toString(8)}`;
      findings.error(
        `storage.${list}[${index}].mode`,
        `spec ${to} does not set the setuid, setgid and sticky bits of ${octal}`,
      );
    });
  }
}
