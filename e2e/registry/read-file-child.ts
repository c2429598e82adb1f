// Reads one file out of an image in a process of its own, and says how much memory that took.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { whyRedirectRefused } from '@slipway/ignition';
import { createRegistry } from '@slipway/registry';
import type { ReadFileResult, ReadFileTask } from './read-file-process.ts';

const { options, credentials, reference, path, maxBytes } = JSON.parse(readFileSync(0, 'utf8')) as ReadFileTask;

const memory = (field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync('/proc/self/status', 'utf8');
  return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
};

// From here on the peak is that of the reading, not of the start.
writeFileSync('/proc/self/clear_refs', '5');
const before = memory('VmRSS');
const registry = createRegistry({ ...options, redirectRule: whyRedirectRefused, credentials: new Map(credentials) });
const file = await registry.readFile(reference, path, { maxBytes });
const peak = memory('VmHWM');
await registry.close();

const sha256 = file === null ? null : createHash('sha256').update(file).digest('hex');
console.log(JSON.stringify({ before, peak, sha256 } satisfies ReadFileResult));
