// Modes of files: permission bits only. Setuid, setgid and sticky bits are not set by spec 3.5, and a mode that has them
// is nearly always an octal number written where JSON wants a decimal one.

const MAX_FILE_MODE = 0o777;

/** Why a mode is refused, with what to write instead; null when it may stand. */
export function whyModeRefused(mode: number): string | null {
  if (mode >= 0 && mode <= MAX_FILE_MODE) return null;
  const found = `the mode ${mode}${mode < 0 ? '' : ` (octal ${octal(mode)})`} is not between 0 and 511 (octal 0777)`;
  const meant = meantMode(mode);
  if (meant === null) return `${found}. Write a mode with permission bits only, such as 420 for octal 0644`;
  return `${found}. JSON numbers are decimal: if octal ${octal(meant)} was meant, write ${meant}; in YAML ${octal(meant)} also does`;
}

/** What the digits say when they are read as octal ones. */
function meantMode(mode: number): number | null {
  const digits = String(mode);
  if (!/^[0-7]{3,4}$/.test(digits)) return null;
  const meant = Number.parseInt(digits, 8);
  return meant <= MAX_FILE_MODE ? meant : null;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}
