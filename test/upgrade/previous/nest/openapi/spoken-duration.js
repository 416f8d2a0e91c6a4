const UNITS = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
];
export function spokenDuration(ms) {
    const [name, unitMs] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? UNITS[3];
    const count = ms / unitMs;
    return `${count} ${name}${count === 1 ? '' : 's'}`;
}
