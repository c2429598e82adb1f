// Lines in which a word of the glossary is right, with the reason. At most 20.

export interface Exception {
  readonly file: string;
  /** Part of the line. */
  readonly text: string;
  readonly reason: string;
}

const JSON_VALUE = 'a value in -o json, which must not change';
const PEM_MARKER = 'the marker that starts a PEM block';

export const EXCEPTIONS: readonly Exception[] = [
  { file: 'docs/boot-images.md', text: 'theirs', reason: JSON_VALUE },
  { file: 'packages/controllers/src/data-images/controller.ts', text: 'not ours', reason: JSON_VALUE },
  { file: 'packages/daemon/src/pinning/sizes.ts', text: 'BEGIN', reason: PEM_MARKER },
  { file: 'packages/fleet/src/hosts/data-image-status.ts', text: 'not ours', reason: JSON_VALUE },
  {
    file: 'packages/fleet/src/hosts/data-image-status.ts',
    text: '--data-images-beside-operator',
    reason: 'the name of a flag',
  },
  { file: 'packages/fleet/src/hosts/host-step.ts', text: 'not ours', reason: JSON_VALUE },
  { file: 'packages/fleet/src/hosts/next-host-step.ts', text: 'not ours', reason: JSON_VALUE },
  { file: 'packages/fleet/src/pinned-images/node-pins.ts', text: 'not begun', reason: JSON_VALUE },
  { file: 'packages/fleet/src/reports/drive-report.ts', text: 'not looked at', reason: JSON_VALUE },
  { file: 'packages/fleet/src/reports/pin-report.ts', text: 'not begun', reason: JSON_VALUE },
  { file: 'packages/ignition/src/resolve/contents.ts', text: 'BEGIN', reason: PEM_MARKER },
  { file: 'packages/slipway/src/dataimage/status.ts', text: 'not looked at', reason: JSON_VALUE },
  { file: 'packages/slipway/src/pin/status-text.ts', text: 'not begun', reason: JSON_VALUE },
];
