import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const CONTENTS = 'the program\n';
const sum = createHash('sha256').update(CONTENTS).digest('hex');

// Stand-ins for apt and dpkg, which a unit test must not call: they respond like those and record their calls. The
// machine's lists are empty unless LISTS is set; an update fills the private ones.
const APT_GET = `#!/bin/sh
for arg; do case $arg in update) what=update ;; --print-uris) what=offer ;; Dir::State=*) state=\${arg#*=} ;; esac; done
for name; do :; done
name=\${name%%=*}
echo "\${what:-download}\${state:+ private}" >>"$APT_LOG"
[ "$what" != update ] || { echo >"$state/lists/all"; exit 0; }
[ -n "$LISTS" ] || [ -e "$state/lists/all" ] || { echo 'E: Unable to locate package' >&2; exit 100; }
if [ "$what" = offer ]; then echo "'http://deb.example/it.deb' \${name}_\${VERSION}_all.deb 5 SHA256:${sum}"; exit 0; fi
[ -n "$state" ] || [ -z "$STALE" ] || { echo 'E: Failed to fetch it.deb  404  Not Found' >&2; exit 100; }
printf '%s' "$BYTES" >"\${name}_\${VERSION}_all.deb"
`;
const DPKG = `#!/bin/sh
mkdir -p "$3/usr/bin" "$3/usr/lib/any-linux-gnu" && cp "$2" "$3/usr/bin/it" && cp "$2" "$3/usr/lib/any-linux-gnu/libblkid.a"
`;

/** Creates the programs on a PATH below this directory, and returns the environment to use them. */
export async function standInApt(directory: string): Promise<NodeJS.ProcessEnv> {
  const programs = join(directory, 'bin');
  await mkdir(programs);
  const scripts = { 'apt-get': APT_GET, 'apt-cache': '#!/bin/sh\n', 'dpkg-deb': DPKG };
  for (const [name, script] of Object.entries(scripts)) await writeFile(join(programs, name), script, { mode: 0o755 });
  return {
    PATH: `${programs}:/usr/bin:/bin`,
    XDG_CACHE_HOME: join(directory, 'cache'),
    APT_LOG: join(directory, 'apt.log'),
    LISTS: 'yes',
    VERSION: '2%3a2.38.1-1',
    BYTES: CONTENTS,
  };
}
