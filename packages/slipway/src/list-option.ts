/** One value each time an option is given. */
export const addTo = (text: string, before: string[] = []): string[] => [...before, text];
