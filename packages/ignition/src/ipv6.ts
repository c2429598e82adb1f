// IPv6 addresses as text, as strict as Go's netip.

const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const IPV4_PART = /^(?:0|[1-9][0-9]{0,2})$/;

export function isIPv6(text: string): boolean {
  if (!text.includes(':')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const sizes = groups.map((half, index) => countGroups(half, index === groups.length - 1));
  if (sizes.includes(-1)) return false;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return halves.length === 2 ? total < 8 : total === 8;
}

/** How many 16-bit groups the parts stand for, -1 when one of them is bad. Only the very last may be an IPv4 address. */
function countGroups(parts: readonly string[], isLast: boolean): number {
  let count = 0;
  for (const [index, part] of parts.entries()) {
    if (GROUP.test(part)) count += 1;
    else if (isLast && index === parts.length - 1 && isIPv4(part)) count += 2;
    else return -1;
  }
  return count;
}

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => IPV4_PART.test(part) && Number(part) <= 255);
}
