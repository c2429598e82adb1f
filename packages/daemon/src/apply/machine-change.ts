// All of an update that changes the machine, there and back. Every part may be done again.
import { posix } from 'node:path';
import { type NodeAction, rollbackOf } from '@slipway/fleet';
import { desiredMachineOf } from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import { carryOut, takeBack } from './flip.ts';
import type { Journal } from './journal.ts';
import { markOf, osChangeOf } from './os-change.ts';
import type { Part } from './part.ts';
import { NO_PASSWORD } from './survey-core-user.ts';
import { syncDirectories } from './synced.ts';
import { afterwards, asBefore, disabledFirst, disabledOnTheWayBack, type UnitOrders } from './units.ts';

export function partsForward(host: Host, journal: Journal): Part[] {
  const { files, systemd, os, accounts } = host;
  const { moves, units, changes, from, to } = journal;
  return [
    { name: 'disabling units that are rewritten', act: () => disable(host, disabledFirst(units)) },
    {
      name: 'changing files',
      async act() {
        for (const move of moves) await carryOut(files, move);
        await syncDirectories(files, placesOf(journal));
      },
    },
    { name: 'enabling and disabling units', act: () => obey(systemd, afterwards(units)) },
    {
      name: 'setting the password of the user core',
      async act() {
        if (journal.oldPasswordHash === null) return;
        const { core } = await desiredMachineOf(to);
        await accounts.setPasswordHash('core', core.passwordHash ?? NO_PASSWORD);
      },
    },
    {
      name: 'staging the OS',
      async act() {
        const change = osChangeOf(changes, from.spec, to.spec);
        // Changes are made to what is booted: in a machine that has booted into them already they would be made twice.
        if (change !== null && (await runsOldOS(host, journal))) await os.stage(change);
      },
    },
  ];
}

export function partsBack(host: Host, journal: Journal): Part[] {
  const { files, systemd, os, accounts } = host;
  const { moves, commit, units, changes, from, to } = journal;
  return [
    { name: 'disabling units that were rewritten', act: () => disable(host, disabledOnTheWayBack(units)) },
    {
      name: 'putting files back',
      async act() {
        for (const move of [...moves, commit].toReversed()) await takeBack(files, move);
        await syncDirectories(files, [...placesOf(journal), posix.dirname(commit.path)]);
      },
    },
    { name: 'bringing units back to what they were', act: () => obey(systemd, asBefore(units)) },
    {
      name: 'setting the old password of the user core',
      async act() {
        if (journal.oldPasswordHash !== null) await accounts.setPasswordHash('core', journal.oldPasswordHash);
      },
    },
    {
      name: 'bringing the OS back',
      async act() {
        const change = osChangeOf(rollbackOf({ changes }), to.spec, from.spec);
        if (change === null) return;
        if (await runsOldOS(host, journal)) await os.discard();
        else await os.stage(change);
      },
    },
  ];
}

/** The update changes the OS, and the machine still, or again, runs the one from before. */
export async function runsOldOS({ os }: Host, { oldOS }: Journal): Promise<boolean> {
  return oldOS !== null && markOf((await os.state()).booted) === oldOS;
}

/** The services that the plan names, told in its order. */
export function partsOfActions({ systemd }: Host, actions: readonly NodeAction[]): Part[] {
  return actions.flatMap((action) => {
    switch (action.type) {
      case 'DaemonReload':
        return { name: 'systemctl daemon-reload', act: () => systemd.daemonReload() };
      case 'Reload':
        return { name: `reloading ${action.unit}`, act: () => systemd.reload(action.unit) };
      case 'Restart':
        return { name: `restarting ${action.unit}`, act: () => systemd.restart(action.unit) };
      case 'Drain':
      case 'Reboot':
        // Not for services: the one comes before the first change, the other is a step of its own.
        return [];
    }
  });
}

async function disable({ systemd }: Host, units: readonly string[]): Promise<void> {
  if (units.length > 0) await systemd.disable(units);
}

async function obey(systemd: Host['systemd'], { enable, disable, preset }: UnitOrders): Promise<void> {
  if (disable.length > 0) await systemd.disable(disable);
  if (preset.length > 0) await systemd.preset(preset);
  if (enable.length > 0) await systemd.enable(enable);
}

function* placesOf({ moves }: Journal): Generator<string> {
  for (const { path } of moves) yield posix.dirname(path);
}
