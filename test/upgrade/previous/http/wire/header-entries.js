export function headerNames(res) {
    return res.getRawHeaderNames();
}
export function headerEntries(res) {
    return headerNames(res).map((name) => [name, res.getHeader(name) ?? '']);
}
