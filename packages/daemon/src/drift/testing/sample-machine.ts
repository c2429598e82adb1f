// A simulated machine in a temporary directory, at a config.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { encodeDataUrl, gzip } from '@slipway/ignition';
import { createSimulatedHost, makeSimulatedMachine, type SimulatedMachineOptions } from '@slipway/simulator';
import { onTestFinished } from 'vitest';
import { createDisk } from '../../host/disk.ts';
import type { FileSystem } from '../../host/file-system.ts';
import type { Host } from '../../host/host.ts';
import type { StoredConfig } from '../../stored-config.ts';
import { recordBaseline } from '../baseline.ts';
import { heal } from '../heal.ts';
import { verifyMachine } from '../verify-machine.ts';

export interface SampleMachine {
  readonly host: Host;
  readonly root: string;
  /** The path of the machine on the disk of the test. */
  readonly at: (path: string) => string;
}

export const IMAGE = `quay.example/os@sha256:${'a'.repeat(64)}`;

export async function sampleMachine(
  options: SimulatedMachineOptions & { wrap?: (files: FileSystem) => FileSystem } = {},
): Promise<SampleMachine> {
  const root = mkdtempSync(join(tmpdir(), 'slipway-drift-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  // These tests do not depend on syncs, which would take most of their time.
  const disk: FileSystem = { ...createDisk({ root }), syncFile: async () => {}, syncDirectory: async () => {} };
  await makeSimulatedMachine(disk, { osImage: IMAGE, ...options });
  const host = createSimulatedHost({ root, files: options.wrap?.(disk) ?? disk });
  return { host, root, at: (path) => join(root, path) };
}

/** The state that an update leaves. */
export async function bringTo(
  host: Host,
  config: StoredConfig,
  previous: StoredConfig | null = null,
): Promise<StoredConfig> {
  // Units can be enabled only after their files exist.
  for (let pass = 0; pass < 2; pass += 1) {
    const [problem] = await heal(host, config, await verifyMachine(host, config));
    if (problem !== undefined) throw new Error(problem.message);
  }
  await recordBaseline(host, previous, config);
  return config;
}

export interface SampleSections {
  readonly files?: readonly object[];
  readonly directories?: readonly object[];
  readonly links?: readonly object[];
  readonly units?: readonly object[];
  readonly users?: readonly object[];
}

export function sampleConfig(
  name: string,
  sections: SampleSections,
  settings: Partial<StoredConfig['spec']> = {},
): StoredConfig {
  const { files = [], directories = [], links = [], units = [], users = [] } = sections;
  const config = {
    ignition: { version: '3.5.0' },
    storage: { files, directories, links },
    systemd: { units },
    passwd: { users },
  };
  return { name, spec: { osImageURL: IMAGE, ...settings, config } };
}

export function sampleFile(path: string, text: string, more: object = {}): object {
  return { path, mode: 0o644, overwrite: true, contents: { source: encodeDataUrl(bytes(text)) }, ...more };
}

export async function packedFile(path: string, text: string): Promise<object> {
  const source = encodeDataUrl(await gzip(bytes(text)));
  return { path, mode: 0o644, overwrite: true, contents: { source, compression: 'gzip' } };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export const SERVICE =
  '[Unit]\nDescription=Sample\n\n[Service]\nExecStart=/usr/bin/true\n\n[Install]\nWantedBy=multi-user.target\n';

/** Creates missing directories. */
export function writeAt(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
