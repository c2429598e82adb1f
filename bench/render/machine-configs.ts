import { ROLE_LABEL, type MachineConfig, type MachineConfigPool } from '@slipway/api';

const FILES = 20;

export const pool: MachineConfigPool = {
  metadata: { name: 'worker' },
  spec: { machineConfigSelector: { matchLabels: { [ROLE_LABEL]: 'worker' } } },
};

/** Like those of real teams: a few lines of settings per file, some overriding a file of the previous config. */
export function machineConfigs(count: number): MachineConfig[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: { name: `${String(index).padStart(4, '0')}-worker`, labels: { [ROLE_LABEL]: 'worker' } },
    spec: { config: { ignition: { version: '3.5.0' }, storage: { files: buildFiles(index) } } },
  }));
}

function buildFiles(index: number): object[] {
  return Array.from({ length: FILES }, (_, place) => ({
    // The first file of each is the last one of the previous config.
    path: `/etc/app/conf.d/${index * (FILES - 1) + place}.conf`,
    mode: 0o644,
    overwrite: true,
    contents: { source: `data:text/plain;charset=utf-8;base64,${buildContents(index, place)}` },
  }));
}

function buildContents(index: number, place: number): string {
  const line = `# setting ${place} of team ${index}\nserver = 10.0.${index % 256}.${place}\ninterval = 30s\n`;
  return Buffer.from(line.padEnd(175, 'retries = 5\n')).toString('base64');
}
