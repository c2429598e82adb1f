import type { OracleResponse } from '@slipway/tools/ignition-oracle';
import type { SpecVersion } from '../src/index.ts';
import type { Case } from './cases.ts';
import type { CaseOutcome } from './compare.ts';

/** A case that shows a deviation, and where each side stops. */
export interface Example {
  question: Case;
  go: OracleResponse['stage'];
  ours: CaseOutcome['stage'];
}

const parse = (text: string, go: Example['go'] = 'done'): Example => ({
  question: { op: 'parse', configs: [text] },
  go,
  ours: 'decode',
});

const mergeExample = (...configs: string[]): Example => ({
  question: { op: 'merge', configs },
  go: 'done',
  ours: 'done',
});

/** By default a translation that drops something in Go and that Slipway refuses. */
const translate = (
  text: string,
  to: SpecVersion,
  go: Example['go'] = 'done',
  ours: Example['ours'] = 'translate',
): Example => ({ question: { op: 'translate', configs: [text], to }, go, ours });

const tang = (from: SpecVersion, to: SpecVersion): Example =>
  translate(
    `{"ignition":{"version":"${from}"},"storage":{"luks":[{"name":"a","device":"/dev/a","clevis":{"tang":[{"url":"http://a/","thumbprint":"x","advertisement":"{}"}]}}]}}`,
    to,
    'done',
    'done',
  );

export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  'key-in-other-case': [
    parse('{"Ignition":{"version":"3.5.0"}}'),
    parse('{"ignition":{"version":"2.2.0"},"SYSTEMD":{}}'),
    parse('{"ignition":{"version":"3.5.0"},"storage":{"files":[{"Path":"/a"}]}}'),
  ],
  'key-twice': [
    parse('{"ignition":{"version":"3.5.0"},"ignition":{"version":"3.5.0"}}'),
    parse('{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","path":"/b"}]}}'),
    parse('{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","p\\u0061th":"b"}]}}', 'validate'),
  ],
  'number-above-2^53': [parse('{"ignition":{"version":"3.5.0","timeouts":{"httpTotal":9007199254740993}}}')],
  'version-written-otherwise': ['03.4.0', '3.4.0-', '3.4.0+', '3.4.00', '3.04.0'].map((version) =>
    parse(`{"ignition":{"version":"${version}"}}`),
  ),
  'source-brings-its-own': [
    mergeExample(
      '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,a","compression":"gzip"}}]}}',
      '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,b"}}]}}',
    ),
  ],
  'no-published-step': [
    translate('{"ignition":{"version":"3.6.0"}}', '3.5.0', 'translate', 'done'),
    translate('{"ignition":{"version":"3.1.0"}}', '3.0.0', 'translate', 'done'),
  ],
  'converter-panics': [
    translate(
      '{"ignition":{"version":"3.2.0"},"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1}]}]}}',
      '2.4.0',
      'panic',
      'done',
    ),
  ],
  'config-append-loop': [
    translate(
      '{"ignition":{"version":"2.3.0","config":{"append":[{"source":"http://a/"},{"source":"http://b/"}]}}}',
      '3.0.0',
      'translate',
      'done',
    ),
    translate(
      '{"ignition":{"version":"2.4.0","security":{"tls":{"certificateAuthorities":[{"source":"http://a/"},{"source":"http://b/"}]}}}}',
      '3.1.0',
      'translate',
      'done',
    ),
  ],
  'empty-list-is-none': [
    translate('{"ignition":{"version":"3.1.0","proxy":{"noProxy":[]}}}', '2.2.0', 'translate', 'done'),
    translate(
      '{"ignition":{"version":"3.2.0"},"storage":{"filesystems":[{"device":"/a","format":"xfs","mountOptions":[]}]}}',
      '2.2.0',
      'translate',
      'done',
    ),
  ],
  'create-refused': [
    translate('{"ignition":{"version":"2.2.0"},"passwd":{"users":[{"name":"a","create":{"uid":5}}]}}', '3.5.0'),
  ],
  'root-filesystem-mount': [
    translate(
      '{"ignition":{"version":"2.3.0"},"storage":{"filesystems":[{"name":"root","mount":{"device":"/dev/a","format":"xfs"}}]}}',
      '3.5.0',
    ),
  ],
  'node-on-unknown-filesystem': [
    translate(
      '{"ignition":{"version":"2.3.0"},"storage":{"files":[{"filesystem":"oem","path":"/a","mode":420}]}}',
      '3.5.0',
    ),
  ],
  'mount-options-to-2.4': [
    translate(
      '{"ignition":{"version":"3.1.0"},"storage":{"filesystems":[{"device":"/dev/a","format":"xfs","path":"/a","mountOptions":["ro"]}]}}',
      '2.4.0',
    ),
  ],
  'file-without-contents-to-2': [
    translate('{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/a","mode":420}]}}', '2.2.0'),
  ],
  'partition-fields-to-2.2': [
    translate(
      '{"ignition":{"version":"3.0.0"},"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1,"shouldExist":false},{"label":"a"}]}]}}',
      '2.2.0',
    ),
    translate(
      '{"ignition":{"version":"3.0.0"},"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1,"shouldExist":false,"wipePartitionEntry":true}]}]}}',
      '2.2.0',
    ),
  ],
  'cex-down': [
    translate(
      '{"ignition":{"version":"3.5.0"},"storage":{"luks":[{"name":"a","device":"/dev/a","cex":{"enabled":true}}]}}',
      '3.4.0',
    ),
  ],
  'tang-advertisement-kept': [
    tang('3.4.0', '3.5.0'),
    tang('3.5.0', '3.4.0'),
    { ...tang('3.5.0', '3.3.0'), ours: 'translate' },
  ],
};
