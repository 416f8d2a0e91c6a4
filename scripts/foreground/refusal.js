/** Why a script does not go on, and the remedy: printed as it stands, without a stack. */
export class Refusal extends Error {
  name = 'Refusal';
}
