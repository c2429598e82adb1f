import { describe, expect, it } from 'vitest';
import { combineActions, needsDrain, needsReboot } from './actions.ts';
import { actionsIn } from './testing/sample-plan.ts';
import type { NodeAction } from './update-plan.ts';

const action = (text: string): NodeAction => {
  const [type = '', unit = ''] = text.split(' ');
  if (type === 'Reload' || type === 'Restart') return { type, unit };
  if (type === 'Drain' || type === 'DaemonReload' || type === 'Reboot') return { type };
  throw new Error(text);
};

describe('the actions of several items', () => {
  it.each([
    { rule: 'is nothing if none asks for anything', asked: [[], []], actions: [], drain: false },
    { rule: 'is done once', asked: [['Reload a'], ['Reload a']], actions: ['Reload a'], drain: false },
    {
      rule: 'has the drain first and systemd told before services are',
      asked: [['Restart a', 'DaemonReload', 'Drain']],
      actions: ['Drain', 'DaemonReload', 'Restart a'],
      drain: true,
    },
    {
      rule: 'has each of them once, whoever asks first',
      asked: [['DaemonReload'], ['Drain'], ['DaemonReload', 'Drain']],
      actions: ['Drain', 'DaemonReload'],
      drain: true,
    },
    {
      rule: 'is a reboot if one asks for it',
      asked: [['Drain', 'Restart a'], ['Reboot']],
      actions: ['Reboot'],
      drain: true,
    },
    {
      rule: 'is a restart where another asks for a reload',
      asked: [['Reload a'], ['Restart a']],
      actions: ['Restart a'],
      drain: false,
    },
    {
      rule: 'keeps the order that each of them gives',
      asked: [
        ['Restart z', 'Restart m'],
        ['Restart m', 'Restart a'],
      ],
      actions: ['Restart z', 'Restart m', 'Restart a'],
      drain: false,
    },
    {
      rule: 'is by name where nobody gives an order',
      asked: [['Reload b'], ['Restart a']],
      actions: ['Restart a', 'Reload b'],
      drain: false,
    },
    {
      rule: 'is by name where two contradict each other',
      asked: [
        ['Restart b', 'Restart a'],
        ['Restart a', 'Restart b'],
      ],
      actions: ['Restart a', 'Restart b'],
      drain: false,
    },
  ])('$rule', ({ asked, actions, drain }) => {
    const causes = asked.map((each) => ({ actions: each.map(action) }));
    const combined = combineActions(causes);
    expect(actionsIn({ actions: combined })).toEqual(actions);
    expect(needsDrain(combined)).toBe(drain);
    expect(needsReboot(combined)).toBe(actions.includes('Reboot'));
  });
});
