// A unit of the config against what the service manager and its directory say.
import type { DesiredUnit } from '../desired-machine.ts';
import type { Difference } from './compare-entry.ts';

export interface UnitFacts {
  /** As `systemctl is-enabled` says it; '' where it was not asked. */
  readonly enablement: string;
  /** A link to /dev/null is in place of its file. */
  readonly isMasked: boolean;
}

const NOT_ENABLED: ReadonlySet<string> = new Set(['disabled', 'masked', 'masked-runtime', 'not-found']);
const NOT_DISABLED: ReadonlySet<string> = new Set(['enabled', 'enabled-runtime']);
/** What a link or its removal below /etc does not change. */
const OUT_OF_REACH: ReadonlySet<string> = new Set(['masked-runtime', 'not-found', 'enabled-runtime']);

export function compareUnit({ name, enabled, unmasked }: DesiredUnit, facts: UnitFacts): Difference[] {
  if (unmasked && facts.isMasked) return [differ(name, 'expected it not to be masked, found it masked', true)];
  if (enabled === null) return [];
  const refused = enabled ? NOT_ENABLED : NOT_DISABLED;
  if (!refused.has(facts.enablement)) return [];
  const text = `expected it ${enabled ? 'enabled' : 'disabled'}, found it ${facts.enablement}`;
  return [differ(name, text, !OUT_OF_REACH.has(facts.enablement))];
}

function differ(name: string, text: string, canHeal: boolean): Difference {
  return { kind: 'unit', name, message: `unit ${name}: ${text}`, canHeal };
}
