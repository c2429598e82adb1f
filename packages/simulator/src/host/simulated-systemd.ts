import { DaemonError } from '@slipway/daemon';
import type { FileSystem, Owners, Systemd } from '@slipway/daemon/host';
import { noteDone } from './done.ts';
import { askEnablement, disableUnits, enableUnits, presetUnits } from './enablement.ts';
import { findUnit } from './unit-lookup.ts';

const FALSE = /^[-@:+!]*(\/usr)?\/bin\/false(\s|$)/;

export function createSimulatedSystemd(files: FileSystem, owners: Owners): Systemd {
  return {
    enablement: (unit) => askEnablement(files, unit),
    enable: (units) => enableUnits(files, owners, units),
    disable: (units) => disableUnits(files, units),
    preset: (units) => presetUnits(files, owners, units),
    daemonReload: () => noteDone(files, owners, { what: 'daemon-reload', name: '' }),

    async reload(unit) {
      await mustStart(files, 'reload', unit);
      await noteDone(files, owners, { what: 'reload', name: unit });
    },

    async restart(unit) {
      await mustStart(files, 'restart', unit);
      await noteDone(files, owners, { what: 'restart', name: unit });
    },
  };
}

async function mustStart(files: FileSystem, verb: string, name: string): Promise<void> {
  const unit = await findUnit(files, name);
  if (unit.kind !== 'unit') {
    const why = unit.kind === 'masked' ? 'it is masked' : 'there is no such unit file on this machine';
    throw new DaemonError('SLW_DAEMON_UNIT', `Cannot ${verb} ${name}: ${why}.`);
  }
  const start = unit.settings.get('Service.ExecStart') ?? [];
  if (!start.some((command) => FALSE.test(command))) return;
  throw new DaemonError(
    'SLW_DAEMON_UNIT',
    `Cannot ${verb} ${name}: its process ended with status 1. Expected that it starts; see its ExecStart in ${unit.path}.`,
  );
}
