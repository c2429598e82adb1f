// Which units are enabled, disabled or preset, before files change and after, on the way there and on the way back.
import { type Change, UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredEntry } from '../desired-machine.ts';

type Wanted = 'enabled' | 'disabled' | 'preset';

export interface UnitStep {
  readonly unit: string;
  /** Its file, mask or a drop-in changes, and with it perhaps what it is wanted by. */
  readonly rewritten: boolean;
  /** As the service manager said it before the update. */
  readonly was: string;
  readonly before: Wanted;
  readonly after: Wanted;
  /** The config masks it: then it is not enabled, whatever else is said of it. */
  readonly masked: boolean;
}

export interface UnitOrders {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
  readonly preset: readonly string[];
}

export async function unitSteps(
  changes: readonly Change[],
  entries: Iterable<DesiredEntry>,
  enablement: (unit: string) => Promise<string>,
): Promise<UnitStep[]> {
  const masks = new Set<string>();
  for (const entry of entries) if (entry.kind === 'link' && entry.of === 'mask') masks.add(entry.path);
  const steps: UnitStep[] = [];
  for (const change of changes) {
    if (change.kind !== 'unit') continue;
    const { unit, rewritten } = change;
    const [before, after] = [change.before.enabled, change.after.enabled];
    const masked = masks.has(`${UNIT_DIRECTORY}/${unit}`);
    steps.push({ unit, rewritten, was: await enablement(unit), before, after, masked });
  }
  return steps;
}

/** The links that a unit's old [Install] asked for are found by its old file only, so they go first. */
export function disabledFirst(steps: readonly UnitStep[]): string[] {
  return steps.filter(({ rewritten, was }) => rewritten && was === 'enabled').map(({ unit }) => unit);
}

export function afterwards(steps: readonly UnitStep[]): UnitOrders {
  return collect(steps, ({ masked, before, after, was }) => {
    if (masked) return 'nothing';
    if (after !== 'preset') return after === 'enabled' ? 'enable' : 'disable';
    // The config has no say, and had none: what somebody else made of the unit stays.
    if (before === 'preset' && !NOT_THERE.has(was)) return was === 'enabled' ? 'enable' : 'nothing';
    return 'preset';
  });
}

/** Links that the new files asked for go before the old files are back; but none that could not be made again. */
export function disabledOnTheWayBack(steps: readonly UnitStep[]): string[] {
  const isKnown = (was: string) => was === 'enabled' || WITHOUT_LINKS.has(was);
  return steps.filter(({ rewritten, was }) => rewritten && isKnown(was)).map(({ unit }) => unit);
}

export function asBefore(steps: readonly UnitStep[]): UnitOrders {
  return collect(steps, ({ was }) => {
    if (was === 'enabled') return 'enable';
    return WITHOUT_LINKS.has(was) ? 'disable' : 'nothing';
  });
}

const NOT_THERE: ReadonlySet<string> = new Set(['not-found', 'masked', 'masked-runtime']);
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['disabled', 'static', ...NOT_THERE]);

function collect(steps: readonly UnitStep[], orderFor: (step: UnitStep) => keyof UnitOrders | 'nothing'): UnitOrders {
  const orders = { enable: [] as string[], disable: [] as string[], preset: [] as string[] };
  for (const step of steps) {
    const order = orderFor(step);
    if (order !== 'nothing') orders[order].push(step.unit);
  }
  return orders;
}
