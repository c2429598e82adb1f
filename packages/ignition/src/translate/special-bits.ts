import type { Findings } from '../report.ts';
import type { SpecVersion } from '../version.ts';

interface Nodes {
  readonly directories?: readonly { readonly mode?: number }[];
  readonly files?: readonly { readonly mode?: number }[];
}

/** Setuid, setgid and sticky bits that the older spec would not set. */
export function refuseSpecialBits(storage: Nodes | undefined, to: SpecVersion, findings: Findings): void {
  for (const list of ['directories', 'files'] as const) {
    storage?.[list]?.forEach(({ mode }, index) => {
      if (mode === undefined || (mode & 0o7000) === 0) return;
      const octal = `0${mode.toString(8)}`;
      findings.error(
        `storage.${list}[${index}].mode`,
        `spec ${to} does not set the setuid, setgid and sticky bits of ${octal}`,
      );
    });
  }
}
