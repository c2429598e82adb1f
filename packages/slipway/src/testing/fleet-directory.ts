import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const GROUP = 'machineconfiguration.openshift.io';

export interface FileInConfig {
  path: string;
  mode?: number;
  contents: { source: string };
}

export const file = (path: string, text: string, mode = 0o644): FileInConfig => ({
  path,
  mode,
  contents: { source: `data:,${encodeURIComponent(text)}` },
});

/** The manifest of a MachineConfig with some files. */
export const machineConfig = (name: string, role: string, files: object[], more: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfig',
  metadata: { name, labels: { [`${GROUP}/role`]: role } },
  spec: { config: { ignition: { version: '3.4.0' }, storage: { files } }, ...more },
});

/** A custom pool: selects the MachineConfigs of worker and those of its name. */
export const customPool = (name: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfigPool',
  metadata: { name },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: `${GROUP}/role`, operator: 'In', values: ['worker', name] }] },
  },
});

/** Creates a directory with these files; objects are written as JSON. */
export async function fleetDirectory(files: Record<string, string | object>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-fleet-'));
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}
