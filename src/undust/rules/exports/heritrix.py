"""Heritrix: a canonicalization policy for `crawler-beans.cxml`; each regular expression covers the whole URL."""

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from undust.rules.exports.conditions import InexpressibleError
from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule

HEAD = """<!-- Written by undust. For crawler-beans.cxml of Heritrix, in the place of the bean of this id. The rules
     want URLs as they are spelled: keep them before LowercaseRule and the like, if you add those. -->
<bean xmlns="http://www.springframework.org/schema/beans" id="canonicalizationPolicy"
      class="org.archive.modules.canonicalize.RulesCanonicalizationPolicy">
 <property name="rules">
  <list>
"""
TAIL = """  </list>
 </property>
</bean>
"""


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for Heritrix."""
    lines, fates = write_patterns(rules, _entry)
    return Written(HEAD + "".join(lines) + TAIL, fates)


def _entry(rule: Rule, variant: Variant) -> str:
    if any(letter in text for text in variant.result if isinstance(text, str) for letter in "$\\"):
        raise InexpressibleError("it writes a character that Heritrix takes for a group")
    return (
        '   <bean class="org.archive.modules.canonicalize.RegexRule">\n'
        f'    <property name="regex" value={quoteattr(variant.regex)}/>\n'
        f'    <property name="format" value={quoteattr(variant.substitution("${}"))}/>\n'
        "   </bean>\n"
    )
