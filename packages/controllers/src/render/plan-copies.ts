export interface RenderedFacts {
  name: string;
  exists: boolean;
  /** By a node or a MachineSet. */
  isReferenced: boolean;
  /** It is what the pool's MachineConfigs make now, so that the render controller makes it again by itself. */
  canBeRendered: boolean;
  copy: 'none' | 'part' | 'whole';
}

export interface CopyPlan {
  copy: string[];
  restore: string[];
  drop: string[];
}

/** Which rendered configs need a copy, which come back from theirs, and which copies have had their time. */
export function planCopies(facts: readonly RenderedFacts[]): CopyPlan {
  const names = (isWanted: (fact: RenderedFacts) => boolean) => facts.filter(isWanted).map(({ name }) => name);
  const needsCopy = ({ isReferenced, canBeRendered }: RenderedFacts): boolean => isReferenced && !canBeRendered;
  return {
    copy: names((fact) => needsCopy(fact) && fact.exists && fact.copy !== 'whole'),
    restore: names((fact) => needsCopy(fact) && !fact.exists && fact.copy === 'whole'),
    drop: names((fact) => !needsCopy(fact) && fact.copy !== 'none'),
  };
}
