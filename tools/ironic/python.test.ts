import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPython } from './python.ts';

describe('the Python that Ironic runs on', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-python-'));
    const versions = {
      python3: '3.9.2 /usr/bin/python3',
      'python3.13': '3.14.0 /opt/p',
      'python3.12': '3.12.1 /opt/my python',
    };
    for (const [name, says] of Object.entries(versions)) {
      await writeFile(join(directory, name), `#!/bin/sh\necho ${says}\n`);
      await chmod(join(directory, name), 0o755);
    }
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('is the first with a supported version, by its real path', async () => {
    expect(await findPython({ PATH: directory })).toEqual({ path: '/opt/my python', version: '3.12.1' });
  });

  it('that is missing is reported, with those that were found', async () => {
    await expect(findPython({ PATH: directory }, ['python3', 'python3.13'])).rejects.toMatchObject({
      code: 'SLW_TOOLS_NO_PYTHON',
      message: expect.stringContaining('/usr/bin/python3 (3.9.2), /opt/p (3.14.0)'),
    });
    await expect(findPython({ PATH: directory }, ['python2'])).rejects.toThrow('on PATH: none.');
  });
});
