import { bootImageHistoryReport } from '@slipway/fleet/reports';
import { sampleBootImage, sampleHistory, workerA } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { historyText } from './history.ts';

describe('the history of a MachineSet', () => {
  it('has every change with its image, if it is still stored, and the original image', () => {
    expect(bootImageHistoryReport(sampleHistory)).toEqual({
      resource: workerA,
      entries: [
        { at: '2026-05-02T08:11:40Z', version: '9.8.2-0', configMapGeneration: 3, image: null },
        { at: '2025-11-04T10:00:12Z', version: '9.6.1-0', configMapGeneration: 2, image: sampleBootImage('1') },
        { at: '2025-11-04T10:00:12.123Z', version: null, configMapGeneration: null, image: sampleBootImage('0') },
      ],
    });
  });

  it('is printed newest first', () => {
    expect(historyText([bootImageHistoryReport(sampleHistory)])).toBe(
      `MachineSet openshift-machine-api/worker-a of machine.openshift.io, newest first
SET                   VERSION  PAYLOAD  IMAGE
2026-05-02 08:11:40Z  9.8.2-0  #3       -
2025-11-04 10:00:12Z  9.6.1-0  #2       ${sampleBootImage('1')}
before                -        -        ${sampleBootImage('0')}
Only the last changes have their image; a version without an image cannot be restored.
`,
    );
  });

  it('is empty if nothing has changed, or if the object is damaged', () => {
    expect(historyText([{ resource: workerA, entries: [] }])).toBe(
      'MachineSet openshift-machine-api/worker-a of machine.openshift.io: its boot image has not changed yet\n',
    );
    const { metadata, spec } = sampleHistory;
    const damaged = { metadata: { ...metadata, annotations: { 'slipway.dev/boot-images': '{' } }, spec };
    expect(bootImageHistoryReport(damaged).entries).toEqual([]);
  });
});
