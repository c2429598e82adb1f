// Each alert on Prometheus' own evaluator: pending while its fault is new, firing with its texts, and gone afterwards.
import { type AlertTest, findPromtool, testAlerts } from '@slipway/tools/promtool';
import { expect, it } from 'vitest';
import { type AlertCase, alertCases } from './testing/alert-cases.ts';
import { type Alert, alerts, ruleGroups } from './testing/alert-rules.ts';

const promtool = await findPromtool();

/** How long the fleet is healthy before the fault, and how long the alert fires. */
const HEALTHY = 15;
const FIRING = 5;

const minutesIn = { m: 1, h: 60 } as const;

function readMinutes(duration: string): number {
  const [, count, unit] = /^(\d+)([mh])$/.exec(duration) ?? [];
  if (unit !== 'm' && unit !== 'h') throw new Error(`${duration} is not in minutes or hours`);
  return Number(count) * minutesIn[unit];
}

/** What the alert looks like to a user. A label that it lacks would be empty. */
function fillIn(text: string, labels: Readonly<Record<string, string>>, value: number): string {
  return text.replaceAll(/\{\{ \$(?:labels\.)?(\w+) \}\}/g, (_, name: string) => {
    const found = name === 'value' ? String(value) : labels[name];
    if (found === undefined) throw new Error(`the alert has no label ${name}`);
    return found;
  });
}

function findAlert({ alert: name }: AlertCase): Alert {
  const found = alerts.find(({ alert }) => alert === name);
  if (found === undefined) throw new Error(`there is no alert ${name}`);
  return found;
}

function buildTest(sample: AlertCase): AlertTest {
  const { alert, annotations, labels: own, for: duration } = findAlert(sample);
  const { healthy, failing, labels, value = 1, startsAfter = 0, endsAfter = 0 } = sample;
  const pendingAt = HEALTHY + startsAfter;
  const firesAt = pendingAt + readMinutes(duration);
  const repairedAt = firesAt + FIRING;
  const clearedAt = repairedAt + endsAfter;
  const valueAt = (name: string, minute: number): number | null => {
    const isFailing = minute >= HEALTHY && minute < repairedAt;
    const found = (isFailing ? failing : healthy)[name] ?? null;
    return typeof found === 'function' ? found(isFailing ? minute - HEALTHY : minute) : found;
  };
  const minutes = Array.from({ length: clearedAt + 2 }, (_, minute) => minute);
  return {
    name: alert,
    alert,
    samples: Object.fromEntries(
      Object.keys(healthy).map((name) => [name, minutes.map((minute) => valueAt(name, minute))]),
    ),
    states: [
      { minute: pendingAt - 1, state: null },
      { minute: pendingAt, state: 'pending' },
      { minute: firesAt - 1, state: 'pending' },
      { minute: firesAt, state: 'firing' },
      { minute: clearedAt - 1, state: 'firing' },
      { minute: clearedAt, state: null },
    ],
    fires: {
      minute: firesAt,
      labels: { ...labels, ...own },
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, text]) => [key, fillIn(text, labels, value)]),
      ),
    },
  };
}

it('there is a fault for each alert', () => {
  expect(new Set(alertCases.map(({ alert }) => alert))).toEqual(new Set(alerts.map(({ alert }) => alert)));
});

it.skipIf(promtool === null)(
  'each alert is pending, fires with its texts, and clears when the fault is repaired',
  async () => {
    await expect(testAlerts(promtool ?? '', ruleGroups, alertCases.map(buildTest))).resolves.toBeUndefined();
  },
);
