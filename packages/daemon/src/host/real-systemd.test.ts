import { describe, expect, it } from 'vitest';
import { judgeRestart, parseProperties } from './real-systemd.ts';

describe('after a restart, a unit', () => {
  it.each([
    ['done', 'that tells when it is ready', 'Type=notify\nActiveState=active\nResult=success\nNRestarts=0'],
    ['done', 'that has ended well', 'Type=oneshot\nActiveState=inactive\nSubState=dead\nResult=success\nNRestarts=0'],
    ['done', 'of one process that had nothing more to do', 'Type=simple\nActiveState=inactive\nResult=success'],
    ['done', 'that is no service', 'ActiveState=active\nSubState=listening'],
    ['perhaps', 'whose process has only just begun', 'Type=simple\nActiveState=active\nResult=success\nNRestarts=0'],
    ['failed', 'that ended badly', 'Type=simple\nActiveState=failed\nResult=exit-code\nNRestarts=0'],
    ['failed', 'that is started again', 'Type=simple\nActiveState=activating\nSubState=auto-restart\nResult=exit-code'],
    ['failed', 'that was started again', 'Type=simple\nActiveState=active\nResult=success\nNRestarts=2'],
  ])('is %s: one %s', (kind, _what, text) => {
    expect(judgeRestart(parseProperties(text)).kind).toBe(kind);
  });
});
