// What an update comes to on this machine: looked at before anything is touched. Whatever is in the way is found here.
import { type Change, UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredMachine } from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { surveyPassword, surveySshKeys } from './survey-core-user.ts';
import { surveyHardLinks, surveyPath } from './survey-path.ts';
import { openSite, type Site, type Survey } from './site.ts';
import { problemOf } from './problem.ts';

/** One file in the way tells enough; a hundred fill a condition. */
const MAX_PROBLEMS = 10;

export async function surveyUpdate(
  host: Pick<Host, 'files' | 'accounts'>,
  changes: readonly Change[],
  desired: DesiredMachine,
): Promise<Survey> {
  const site = openSite(host, desired);
  const problems: Problem[] = [];
  for (const change of changes) {
    try {
      await surveyChange(site, change);
    } catch (error) {
      problems.push(problemOf(error, `MachineConfig ${desired.config}, ${nameOf(change)}`));
      if (problems.length === MAX_PROBLEMS) break;
    }
  }
  if (problems.length === 0) await surveyHardLinks(site);
  return { ...site.notes, directories: site.parents.made, problems };
}

async function surveyChange(site: Site, change: Change): Promise<void> {
  switch (change.kind) {
    case 'path':
      return surveyPath(site, change);
    case 'unit':
      return change.after.unmasked ? removeForeignMask(site, change.unit) : undefined;
    case 'ssh keys':
      return surveySshKeys(site, change);
    case 'password':
      return surveyPassword(site, change);
    case 'kernel arguments':
    case 'extensions':
    case 'setting':
      // Of the OS: os-change.ts has them.
      return undefined;
  }
}

async function removeForeignMask(site: Site, unit: string): Promise<void> {
  const path = `${UNIT_DIRECTORY}/${unit}`;
  if (site.desired.entries.has(path) || site.hasMove(path)) return;
  const found = await site.files.lookAt(path);
  if (found?.kind === 'link' && found.target === '/dev/null') site.drop(path, 'entry');
}

function nameOf(change: Change): string {
  switch (change.kind) {
    case 'path':
      return `${change.after?.of ?? change.before?.of ?? 'path'} ${change.path.slice(0, 300)}`;
    case 'unit':
      return `unit ${change.unit}`;
    case 'ssh keys':
    case 'password':
      return `${change.kind} of the user ${change.user}`;
    case 'setting':
      return change.setting;
    case 'kernel arguments':
    case 'extensions':
      return change.kind;
  }
}
